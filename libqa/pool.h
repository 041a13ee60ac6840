/*
 * pool.h - what the rest of libqa asks of the named pools: their names, for the statistics.
 */
#ifndef LIBQA_POOL_H
#define LIBQA_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "qa.h"

/* What a row of a pool needs besides the class's counters. */
struct pool_row {
	char name[QA_CLASS_NAME_SIZE];
	uint64_t allocs_before, frees_before; /* of pools that had this class earlier */
};

/* Of a class behind the size classes. False: no pool has it now. With the lock held. */
bool pool_row(unsigned size_class, struct pool_row *row);

/* The class of the pool of that name, 0: there is none. */
unsigned pool_find(const char *name);

/* No allocation takes it. Also around fork, see fork.c. */
void pool_lock(void);
void pool_unlock(void);

#endif
