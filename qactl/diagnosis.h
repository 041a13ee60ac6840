/*
 * diagnosis.h - what the figures of a target mean, in sentences.
 */
#ifndef QACTL_DIAGNOSIS_H
#define QACTL_DIAGNOSIS_H

#include <stdio.h>

#include "stats_table.h"

/* Prints what is cached and why, what a trim would return, what pins the rest, and what can be set. */
void diagnosis_print(FILE *out, const struct stats *stats);

#endif
