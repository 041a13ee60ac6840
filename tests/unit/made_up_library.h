/*
 * made_up_library.h - stands for libqa where only what is answered about it is of interest.
 */
#ifndef MADE_UP_LIBRARY_H
#define MADE_UP_LIBRARY_H

#include <stddef.h>

#include "qa.h"

/* What it has and says, set by the test; and what it was asked. */
extern struct made_up {
	size_t row_count;
	int trim_error;
	int stats_calls, trim_calls;
	struct qa_trim_options trim_options;
	char trim_pool[QA_CLASS_NAME_SIZE];
} made_up;

/* The row of class number i. */
struct qa_class_stats made_up_row(size_t i);

#endif
