/*
 * plot_data.h - where the points of a plot come from: what qad has recorded, or a file of 'qactl record'.
 */
#ifndef QACTL_PLOT_DATA_H
#define QACTL_PLOT_DATA_H

#include "client.h"
#include "plot.h"
#include "resolve.h"
#include "target.h"

struct plot_mark {
	uint64_t time_ms, returned_bytes; /* a trim */
};

enum { PLOT_MARKS = 16 };

struct plot_data {
	char label[TARGET_LABEL_BYTES]; /* escaped */
	uint64_t pid;
	struct plot_point *points; /* by time */
	size_t count, room;
	struct plot_mark marks[PLOT_MARKS]; /* by time */
	size_t mark_count;
	uint64_t from_ms, to_ms; /* what is to be shown */
	uint64_t gap_ms;         /* points further apart have nothing between them */
};

/*
 * Asks qad; since_s 0: all there is; step_s 0: as fine as goes so far back. An exit status; the data, which begins
 * zeroed, is finished by the caller in any case. No points: nothing is recorded.
 */
int plot_data_ask(struct plot_data *data, struct client *client, const struct resolve_match *match, uint64_t since_s,
		  uint64_t step_s);

/* Reads a recording. Also with 65, a damaged file, there may be points to show. */
int plot_data_read(struct plot_data *data, const char *path, const char *target, uint64_t since_s);

void plot_data_finish(struct plot_data *data);

#endif
