/*
 * drain.h - takes the free blocks out of thread caches and from between threads, into their pages. One caller at a
 * time: with trim's lock.
 */
#ifndef LIBQA_DRAIN_H
#define LIBQA_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

/* All classes of all heaps. Returns how many heaps were left, since their owners were inside at every look. */
uint64_t drain_heaps(void);

/* All batches between threads, and what is in quarantine. */
void drain_transfers(void);

/*
 * One class, out of both. When it is to be no more, no heap keeps capacity for it. Returns how many heaps were left,
 * since they could not be reached.
 */
uint64_t drain_class(unsigned size_class, bool is_over);

#endif
