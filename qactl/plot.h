/*
 * plot.h - a picture of memory over time, as cells: used and cached as areas one on the other (their height is held),
 * rss as a line. Pure: no terminal, no clock.
 */
#ifndef QACTL_PLOT_H
#define QACTL_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plot_point {
	uint64_t time_ms, used_bytes, cached_bytes, rss_bytes;
};

/*
 * What a column shows of the time from from_ms until before to_ms: of several points the one with most held, so that no
 * peak is lost; of none the one before, unless that is older than gap_ms. Points are sorted by time. false: nothing is
 * known there.
 */
bool plot_column(const struct plot_point *points, size_t count, uint64_t from_ms, uint64_t to_ms, uint64_t gap_ms,
		 struct plot_point *column);

/* Where a column of so many begins; the last ends behind to_ms. */
uint64_t plot_edge(uint64_t from_ms, uint64_t to_ms, size_t column, size_t columns);

/* A step of round binary size (1, 2, 4 ... 512 of a unit), so that at most so many steps reach most_bytes. */
uint64_t plot_step_bytes(uint64_t most_bytes, uint64_t steps);
/* The least multiple of the step that is not below. */
uint64_t plot_top_bytes(uint64_t most_bytes, uint64_t step_bytes);

/* A step of round length (1, 2, 5, 10, 15, 30 s or min, 1, 2, 3, 6 h), so that at most so many fit the span. */
uint64_t plot_step_s(uint64_t span_ms, uint64_t steps);

/* How a cell is filled, in eighths of its height: used from below, then cached. */
struct plot_cell {
	unsigned used, cached;
	bool is_rss; /* the line goes through it */
};

/* The cell of a column in a row; row 0 is the lowest. */
struct plot_cell plot_cell(const struct plot_point *column, size_t row, size_t rows, uint64_t top_bytes);

/* The row in which so many bytes lie; the last for those at the top. */
size_t plot_row(uint64_t bytes, size_t rows, uint64_t top_bytes);

#endif
