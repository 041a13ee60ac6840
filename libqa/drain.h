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
 * A class that is to be no more, out of both; no heap keeps capacity for it. False: another thread's heap does, which
 * could not be reached.
 */
bool drain_class(unsigned size_class);

#endif
