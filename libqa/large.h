/*
 * large.h - blocks above the largest class, or aligned to more than 4 KiB: whole runs of OS pages, mappings of their
 * own. Thread-safe.
 */
#ifndef LIBQA_LARGE_H
#define LIBQA_LARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL and ENOMEM. align is a power of two. */
void *large_alloc(size_t size, size_t align, bool is_zeroed);

/* The block must be the start of one: anything else ends the program (what names the caller's operation). */
void large_free(void *block, const char *what);
size_t large_usable_size(const void *block, const char *what);

/* Longer or shorter, moved if need be; contents kept. NULL and ENOMEM: the block is untouched. */
void *large_realloc(void *block, size_t size);

/*
 * Gives back at most so many bytes of slack: what is in memory of the mappings of blocks behind their ends. How many
 * those were.
 */
uint64_t large_return_slack(uint64_t most_bytes);

struct large_counts {
	uint64_t held_bytes, used_bytes, blocks, allocs, frees;
};

/* Any thread, no lock. */
struct large_counts large_read_counts(void);

#endif
