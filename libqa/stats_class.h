/*
 * stats_class.h - one row of the statistics.
 */
#ifndef LIBQA_STATS_CLASS_H
#define LIBQA_STATS_CLASS_H

#include <stdint.h>

#include "qa.h"

/*
 * The figures of a class, without a pool's name; counters since the process started. Returns the bytes in caches that
 * another thread's trim can not reach where there is no barrier. Any thread, no lock.
 */
uint64_t stats_fill_class(struct qa_class_stats *row, unsigned size_class);

#endif
