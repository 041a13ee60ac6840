/*
 * page.h - the descriptor of one page: a run of memory that is cut into blocks of one size class.
 *
 *     base                                                    base + block_size * page_blocks
 *      | used | free | used | used | free | fresh   fresh   fresh ...  | slack |
 *                 \____________________/    ^
 *                   linked through free     index fresh: blocks from here on were never handed out
 *
 *   page_blocks = used + (blocks linked in free) + (page_blocks - fresh),    used <= fresh <= page_blocks
 *
 * Descriptors lie out of line, in the page map: one per unit of page_size. A page of several units uses the first
 * one's; the others only say how far back that is. Who may touch it: whoever holds the lock of the class that has the
 * page (shared.c), or the space's lock while no class has it (space.c).
 */
#ifndef LIBQA_PAGE_H
#define LIBQA_PAGE_H

#include <stdint.h>

struct chunk;

struct page {
	char *base;
	void *free;                       /* blocks that came back */
	struct page *child, *next, *prev; /* page_heap.h, or the space's list of empty pages */
	uint32_t used;                    /* blocks that are out: with the program, in caches, in batches */
	uint32_t fresh;
	uint16_t back_units; /* from this unit's descriptor to the page's own */
	uint8_t size_class;
	uint8_t fullness; /* used, coarsely (shared.c), as page_heap ordered it */
	uint8_t in_heap;
	struct chunk *chunk; /* that its memory belongs to, see space.c */
};

/* A large block's descriptor, in the same place: the run starts at base. */
struct page_large {
	char *base;
	uint64_t size_bytes; /* usable, a multiple of the OS page */
	uint64_t map_bytes;  /* mapped, a multiple of page_size */
	uint64_t align_bytes;
};

_Static_assert(sizeof(struct page) <= 64, "a descriptor fits a cache line");
_Static_assert(sizeof(struct page_large) <= 64, "likewise");

#endif
