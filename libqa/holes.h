/*
 * holes.h - OS pages inside a partly used page that were given back to the OS, since no block that is out has a byte
 * there.
 *
 *     OS pages   |  used  free |  free  free  |  free  used |         a page of libqa
 *                |             |=====hole=====|             |
 *     blocks     [ u ][ f ][ f    ][ f ][ f    ][ f ][ u ]
 *                            *       *     *                  * missing: they overlap a hole, and can not be given out
 *
 * A hole is no longer held. Its blocks are found again from the bit per OS page when the class runs out of others: a
 * block is missing exactly if it overlaps a hole. Peers give back whole pages only; the idea of looking inside is that
 * of jemalloc's dirty runs, taken down to blocks smaller than an OS page.
 *
 * bits are those of the page's free blocks (page.h). The caller has the page to itself, or holds the lock of its class.
 */
#ifndef LIBQA_HOLES_H
#define LIBQA_HOLES_H

#include <stdbool.h>
#include <stdint.h>

#include "page.h"
#include "returns.h"
#include "size_class.h"

/*
 * Finds all OS pages of which every byte is free or slack and adds them to those that a trim returns; they count as
 * holes from now on, and the bits of the blocks there are cleared. Needs no lock if the page is in place PAGE_RETURNING
 * and bits are the caller's copy.
 */
void holes_find(const struct page *page, const struct size_class *c, uint64_t *bits, struct returns *returns);

struct holes_made {
	uint64_t bytes;  /* given back now */
	uint32_t blocks; /* that became missing */
	bool is_refused; /* the kernel did not take all: locked memory */
};

/*
 * After returns_run: what was refused is no hole, and its blocks' bits are set again. The caller adds blocks to
 * page->missing.
 */
struct holes_made holes_settle(struct page *page, const struct size_class *c, uint64_t *bits,
			       const struct returns *returns);

struct holes_filled {
	uint64_t bytes;  /* of OS pages that are no longer holes */
	uint32_t blocks; /* that are free again */
};

/*
 * Makes the blocks around the first hole free again: their bits are set. page->missing is above 0, and the caller
 * subtracts blocks.
 */
struct holes_filled holes_fill_first(struct page *page, const struct size_class *c, uint64_t *bits);

/* Forgets all holes: the page's memory is taken as it comes. */
void holes_clear(struct page *page);

#endif
