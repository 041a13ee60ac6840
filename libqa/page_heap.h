/*
 * page_heap.h - the pages of a class that have a free block, best first: the fullest, and among equally full ones the
 * lowest address.
 *
 * Taking from the fullest page lets the others become empty; the address order makes fragmentation alike from run to
 * run. A pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986): insert O(1), take and remove O(log n)
 * amortised, no memory besides the three links in the page. Fullness has at most nine values, so that a page seldom
 * moves in the order while it fills or empties.
 *
 *     root      child: the first child      next: the next sibling
 *      |        prev:  the previous sibling, or the parent of a first child
 *
 * Insert and remove set the page's place: in the heap, or full. The caller holds the class's lock.
 */
#ifndef LIBQA_PAGE_HEAP_H
#define LIBQA_PAGE_HEAP_H

#include "page.h"

struct page_heap {
	struct page *root; /* the best page, or NULL */
};

void page_heap_insert(struct page_heap *heap, struct page *page);
void page_heap_remove(struct page_heap *heap, struct page *page);

#endif
