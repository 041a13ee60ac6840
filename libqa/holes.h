/*
 * holes.h - OS pages inside a partly used page that were given back to the OS, since no block that is out has a byte
 * there.
 *
 *     OS pages   |  used  free |  free  free  |  free  used |         a page of libqa
 *                |             |=====hole=====|             |
 *     blocks     [ u ][ f ][ f    ][ f ][ f    ][ f ][ u ]
 *                            *       *     *                  * in no list any more: they overlap a hole
 *
 * A hole is no longer held. Its blocks are found again from the bit per OS page when the class runs out of others: a
 * block is missing exactly if it overlaps a hole. Peers give back whole pages only; the idea of looking inside is that
 * of jemalloc's dirty runs, taken down to blocks smaller than an OS page.
 *
 * The caller has the page to itself, or holds the lock of its class.
 */
#ifndef LIBQA_HOLES_H
#define LIBQA_HOLES_H

#include <stdint.h>

#include "page.h"
#include "size_class.h"

/* Free blocks of a page that its class's lists do not have meanwhile. */
struct holes_free {
	void *chain;
	void *last; /* of the chain, if there is one: NULL before holes_make, known after it */
	uint32_t fresh;
};

struct holes_made {
	uint64_t bytes;  /* given back now */
	uint32_t blocks; /* that overlap a hole now and did not before */
};

/*
 * Gives back all OS pages of which every byte is free, fresh or slack, and takes their blocks out of *free. Needs no
 * lock if the page is in place PAGE_RETURNING: blocks that are freed meanwhile count as out.
 */
struct holes_made holes_make(struct page *page, const struct size_class *c, struct holes_free *free);

struct holes_filled {
	uint64_t bytes; /* of OS pages that are no longer holes */
	uint32_t blocks;
};

/* Makes the blocks around the first hole free again: links them into page->free, in address
 * order. The caller knows that a block is missing (holes_blocks). */
struct holes_filled holes_fill_first(struct page *page, const struct size_class *c);

/* Blocks of a page that overlap a hole. */
uint32_t holes_blocks(const struct page *page, const struct size_class *c);

/* Forgets all holes: the page's memory is taken as it comes. */
void holes_clear(struct page *page, uint64_t page_bytes);

#endif
