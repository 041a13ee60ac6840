/*
 * round.h - figures of one moment: what a notification of qad says, or a line of a recording.
 */
#ifndef QACTL_ROUND_H
#define QACTL_ROUND_H

#include <stddef.h>
#include <stdint.h>

#include "read.h"
#include "stats_table.h"

struct round {
	uint64_t time_ms;    /* since 1970 */
	struct stats *items; /* rows: of classes, if they were asked for */
	size_t count;
	uint64_t left_out; /* targets that did not fit */
	uint64_t dropped;  /* rounds that qad left out before this one, as they were not read in time */
};

/* Room for so many targets in an empty round. 0, or 71 after having said so. */
int round_allocate(struct round *round, size_t count);

/* Reads a notification's params into an empty round. An exit status; the caller finishes it even after an error. */
int round_read(struct qp_reader *reader, uint64_t time_ms, struct round *round);
void round_finish(struct round *round);

/* The clock that time_ms counts by. */
uint64_t round_clock_ms(void);

#endif
