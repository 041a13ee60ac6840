/*
 * page.h - the descriptor of one page: a run of memory that is cut into blocks of one size class.
 *
 *     base                                                    base + block_size * page_blocks
 *      | out | free | out | out | missing | missing | free | out | free   free   free | slack |
 *
 *   page_blocks = used + free + missing
 *
 * A block is out (with the program, in a cache, in a batch), or free, or missing (it overlaps a hole, holes.h). One bit
 * per block says whether it is free. Descriptors and bits lie out of line, in the page map: nothing is written to a
 * free block in its page, and a block that comes back twice is known by its bit. A page of several units uses the first
 * unit's descriptor; the others only say how far back that is.
 *
 * Who may touch it: whoever holds the lock of the class that has the page (shared.c), or the space's lock while no
 * class has it (space.c).
 */
#ifndef LIBQA_PAGE_H
#define LIBQA_PAGE_H

#include <stdint.h>

struct chunk;

/* Where a page of a class is. */
enum page_place {
	PAGE_FULL,      /* in no list: no block to give */
	PAGE_IN_HEAP,   /* has a free block (page_heap.h) */
	PAGE_HOLED,     /* has no free block, but missing ones; in the class's list of such pages */
	PAGE_RETURNING, /* a trim works on it: takes blocks back, gives none */
	PAGE_EMPTY,     /* no block out: kept by its class, or in the space */
};

struct page {
	char *base;
	struct page *child, *next, *prev; /* links of the place where it is */
	uint32_t used;                    /* blocks that are out */
	uint32_t missing;                 /* blocks that overlap a hole */
	uint32_t first_word;              /* no bit is set in words of bits before this one */
	uint16_t back_units;              /* from this unit's descriptor to the page's own */
	uint16_t hole_pages;
	uint8_t size_class;
	uint8_t span_log2; /* its length: 2^this units of page_size */
	uint8_t fullness;  /* used, coarsely (shared.c), as page_heap ordered it */
	uint8_t place : 7;
	uint8_t is_walked : 1; /* a trim looked for holes, and no block came back since */
	struct chunk *chunk;   /* that its memory belongs to, see space.c */
};

/* A large block's descriptor, in the same place: the run starts at base. */
struct page_large {
	char *base;
	uint64_t size_bytes; /* usable, a multiple of the OS page */
	uint64_t held_bytes; /* of the mapping, what may be in memory: size_bytes and slack */
	uint64_t map_bytes;  /* mapped, a multiple of page_size */
	uint64_t align_bytes;
	struct page_large *next, *previous; /* of those with slack, see large.c; NULL: it has none */
};

_Static_assert(sizeof(struct page) <= 64, "a descriptor fits a cache line");
_Static_assert(sizeof(struct page_large) <= 64, "likewise");

#endif
