/*
 * stats.h - one row of the statistics, for those inside libqa that want just that.
 */
#ifndef LIBQA_STATS_H
#define LIBQA_STATS_H

#include "qa.h"

/* The figures of a class, without a pool's name; counters since the process started. Any thread, no lock. */
void stats_fill_class(struct qa_class_stats *row, unsigned size_class);

#endif
