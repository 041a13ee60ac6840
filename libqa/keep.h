/*
 * keep.h - mappings of large blocks that were freed, kept for the next blocks of about their size: to map one,
 * touch it and unmap it costs far more than any other free and allocation. Their contents are what the program left.
 *
 * At most QA_LARGE_CACHE bytes are kept, at most KEEP_MAX mappings, and none above a quarter of those bytes; who
 * is there longest goes first. Thread-safe.
 */
#ifndef LIBQA_KEEP_H
#define LIBQA_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEEP_MAX = 16 };

/* Both in bytes; a limit of 0: nothing is kept. */
void keep_init(uint32_t page_size, uint64_t limit);

/*
 * Takes a mapping, of which the first size_bytes may be in memory; it is as long as whole units of page_size for them.
 * False: it is not kept. May unmap others.
 */
bool keep_put(void *base, size_t size_bytes);

/* A mapping of at least size_bytes, and at most an eighth more, which may all be in memory; NULL: there is none. */
void *keep_take(size_t size_bytes, size_t align_bytes, size_t *kept_bytes);

/* os_map; when there is no memory, what is kept goes back first. */
void *keep_map(size_t map_bytes, size_t align_bytes);

/* Gives back at most so many bytes, in whole mappings. How many those were. */
uint64_t keep_release(uint64_t most_bytes);

/* Any thread, no lock. */
uint64_t keep_bytes(void);

/* For fork. */
void keep_lock(void);
void keep_unlock(void);

#endif
