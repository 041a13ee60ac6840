/*
 * report.h - libqa's figures with all their rows, in memory of their own: they are asked for when a program ends or is
 * out of memory, and on stacks of any size.
 */
#ifndef LIBQA_MALLOC_REPORT_H
#define LIBQA_MALLOC_REPORT_H

#include "qa.h"

struct report {
	struct qa_stats stats;
	size_t row_count;
	struct qa_class_stats rows[QA_STATS_ROWS_MAX]; /* the last is that of large blocks */
};

/* The figures of now; NULL when there is no memory. errno is kept. */
struct report *report_create(void);
void report_destroy(struct report *report);

#endif
