/*
 * diagnosis.h - what the figures of a target mean, in sentences.
 */
#ifndef QACTL_DIAGNOSIS_H
#define QACTL_DIAGNOSIS_H

#include <stdint.h>
#include <stdio.h>

#include "stats_table.h"

/* What a trim would return: at least and at most. */
struct diagnosis_bounds {
	uint64_t least_bytes, most_bytes;
};

/* Of one class, whose pages and blocks the figures tell; os_page_bytes is that of the target's host. */
struct diagnosis_bounds diagnosis_bound_class(const struct qp_class *row, uint64_t os_page_bytes);

/* Prints what is cached and why, what a trim would return, what pins the rest, and what can be set. */
void diagnosis_print(FILE *out, const struct stats *stats);

#endif
