/*
 * meta.h - memory for libqa's own records: thread heaps, chunk descriptors. Zeroed, aligned to 64 bytes, never given
 * back; what is no longer needed is kept in lists by its owner. Thread-safe.
 */
#ifndef LIBQA_META_H
#define LIBQA_META_H

#include <stddef.h>

/* NULL and ENOMEM. */
void *meta_alloc(size_t size_bytes);

/* Around fork, see fork.c. */
void meta_lock(void);
void meta_unlock(void);

#endif
