/*
 * keep.h - memory of large blocks that were freed, kept for the next ones: to map a block, touch it and unmap it costs
 * a thousand times what any other allocation and free cost.
 *
 * It is kept as ranges of whole units of page_size. Neighbours become one range; a block takes the front of the
 * smallest range that holds it. At most QA_LARGE_CACHE bytes stay, of blocks of at most a quarter of that, in at most
 * KEEP_MAX ranges; of what was freed first most goes first. Thread-safe.
 *
 * How much of a range is in memory is known as a bound: held_bytes. Contents are what the program left.
 */
#ifndef LIBQA_KEEP_H
#define LIBQA_KEEP_H

#include <stddef.h>
#include <stdint.h>

enum { KEEP_MAX = 64 };

/* Both in bytes; a limit of 0: nothing is kept. */
void keep_init(uint32_t page_size, uint64_t limit);

/* Takes a range, of which at most held_bytes are in memory. Unmaps it, or others, when it is too much. */
void keep_put(void *base, size_t bytes, size_t held_bytes);

/* A range of just so many bytes, or NULL. held_bytes: how many of them may be in memory. */
void *keep_take(size_t bytes, size_t align_bytes, size_t *held_bytes);

/* os_map; when there is no memory, what is kept goes back first. */
void *keep_map(size_t map_bytes, size_t align_bytes);

/* Gives back at most so many bytes of memory. How many those were. */
uint64_t keep_release(uint64_t most_bytes);

/* What may be in memory of all that is kept. Any thread, no lock. */
uint64_t keep_held_bytes(void);

/* For fork; and for large.c, which has little to protect besides. Nothing above may be called meanwhile. */
void keep_lock(void);
void keep_unlock(void);

#endif
