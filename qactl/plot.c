/*
 * Sizes are below 2^53 in any process, so doubles are exact enough for a picture; what must not happen is a division by
 * zero or a row outside.
 */
#include "plot.h"

bool plot_column(const struct plot_point *points, size_t count, uint64_t from_ms, uint64_t to_ms, uint64_t gap_ms,
		 struct plot_point *column)
{
	size_t low = 0, high = count;
	bool is_known = false;

	/* The first point that is not before from_ms. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (points[middle].time_ms < from_ms)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < count && points[i].time_ms < to_ms; i++) {
		if (is_known &&
		    points[i].used_bytes + points[i].cached_bytes <= column->used_bytes + column->cached_bytes)
			continue;
		*column = points[i];
		is_known = true;
	}
	if (is_known || low == 0 || from_ms - points[low - 1].time_ms > gap_ms)
		return is_known;
	*column = points[low - 1];
	return true;
}

uint64_t plot_edge(uint64_t from_ms, uint64_t to_ms, size_t column, size_t columns)
{
	return from_ms + (uint64_t)((double)(to_ms - from_ms + 1) * (double)column / (double)columns);
}

uint64_t plot_step_bytes(uint64_t most_bytes, uint64_t steps)
{
	uint64_t step = 1;

	while (steps > 0 && step < UINT64_MAX / 4 && most_bytes / step + (most_bytes % step != 0) > steps)
		step *= 2;
	return step;
}

uint64_t plot_top_bytes(uint64_t most_bytes, uint64_t step_bytes)
{
	uint64_t steps = most_bytes / step_bytes + (most_bytes % step_bytes != 0);

	return (steps ? steps : 1) * step_bytes;
}

uint64_t plot_step_s(uint64_t span_ms, uint64_t steps)
{
	static const uint64_t table[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
					 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
	size_t last = sizeof(table) / sizeof(*table) - 1, i = 0;
	uint64_t step;

	while (i < last && span_ms / 1000 / table[i] > steps)
		i++;
	step = table[i];
	while (steps > 0 && span_ms / 1000 / step > steps)
		step *= 2;
	return step;
}

size_t plot_row(uint64_t bytes, size_t rows, uint64_t top_bytes)
{
	size_t row = (size_t)((double)bytes * (double)rows / (double)top_bytes);

	return row < rows ? row : rows - 1;
}

/* How far an area that ends at bytes fills a row, in eighths. */
static unsigned fill(uint64_t bytes, size_t row, size_t rows, uint64_t top_bytes)
{
	double eighths = (double)bytes * (double)rows * 8 / (double)top_bytes - 8 * (double)row + 0.5;

	return eighths <= 0 ? 0 : eighths >= 8 ? 8 : (unsigned)eighths;
}

struct plot_cell plot_cell(const struct plot_point *column, size_t row, size_t rows, uint64_t top_bytes)
{
	unsigned held = fill(column->used_bytes + column->cached_bytes, row, rows, top_bytes);
	struct plot_cell cell = {
		.used = fill(column->used_bytes, row, rows, top_bytes),
		.is_rss = plot_row(column->rss_bytes, rows, top_bytes) == row,
	};

	cell.cached = held - cell.used;
	return cell;
}
