/*
 * shared.h - the pages of each size class, that all threads share: where caches get blocks and give them back, a batch
 * at a time.
 *
 * A chain is a list of free blocks linked through their first word, the last one's is NULL. Thread-safe; one lock a
 * class.
 */
#ifndef LIBQA_SHARED_H
#define LIBQA_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "returns.h"
#include "size_class.h"

/* Of one class, taken together at one moment. Blocks are counts, pages are in units of page_size. */
struct shared_counts {
	uint64_t pages;                       /* that the class has, without those in the space's empty list */
	uint64_t kept_pages;                  /* of these, without a block out */
	uint64_t covered_blocks;              /* blocks in pages that have one out */
	uint64_t out_blocks;                  /* of these, blocks out: with the program, in caches, in batches */
	uint64_t hole_blocks;                 /* of the covered ones, blocks that overlap a hole */
	uint64_t hole_bytes;                  /* bytes of these pages that went back to the OS */
	uint64_t direct_allocs, direct_frees; /* by threads without a cache */
};

void shared_init(void);

/* A chain of 1 to most blocks, *count of them. NULL and ENOMEM. */
void *shared_take(unsigned size_class, uint32_t most, uint32_t *count);

/* Gives a chain back, of any length, from any pages of that class. */
void shared_give(unsigned size_class, void *chain);

/* One block straight to or from the program, counted as an allocation or free. */
void *shared_take_direct(unsigned size_class);
void shared_give_direct(unsigned size_class, void *block);

/* Counts an allocation that did not go through a cache's counter. */
void shared_count_direct_alloc(unsigned size_class);

/* Puts the page that a class keeps although it is empty where a trim finds it. */
void shared_release_kept(unsigned size_class);

/*
 * The way into the page that begins at a unit: adds to what a trim returns the OS pages without a byte of a block that
 * is out. False: there is no such page, or nothing to gain. Allocations go on from other pages until shared_walk_end,
 * which follows returns_run and tells the bytes that went back. One caller at a time (trim.c), with pages of one chunk.
 */
bool shared_walk_begin(const char *unit, struct returns *returns);
uint64_t shared_walk_end(const char *unit, const struct returns *returns);

/* What one page of a class has. span_pages is 0: no such page begins at the unit, or none of its blocks is out. */
struct shared_page {
	unsigned size_class;
	uint32_t span_pages, page_blocks, out_blocks, free_blocks;
};

/* Of the page that begins at that unit. One caller at a time, as above. */
struct shared_page shared_read_page(const char *unit);

/* Sets up a class that was added behind the size classes. */
void shared_init_class(unsigned size_class);

/* Without a lock, from any thread; consistent in itself. */
struct shared_counts shared_read_counts(unsigned size_class);

/* Around fork, see fork.c: in between, other threads wait and all counts are whole. */
void shared_close_all(void);
void shared_open_all(bool is_child);

#endif
