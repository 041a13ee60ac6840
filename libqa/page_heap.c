/*
 * A pairing heap with links to the previous sibling, so that any page can leave it. Children are merged in the usual
 * two passes, without recursion: pairs from left to right, then the pairs from right to left.
 */
#include "page_heap.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_better(const struct page *a, const struct page *b)
{
	return a->fullness != b->fullness ? a->fullness > b->fullness : a->base < b->base;
}

/* Two roots (no siblings): the worse one becomes the first child of the other. */
static struct page *meld(struct page *a, struct page *b)
{
	if (!a || !b)
		return a ? a : b;
	if (is_better(b, a)) {
		struct page *swap = a;
		a = b;
		b = swap;
	}
	b->prev = a;
	b->next = a->child;
	if (b->next)
		b->next->prev = b;
	a->child = b;
	return a;
}

/* One root out of a list of siblings. */
static struct page *merge_siblings(struct page *first)
{
	struct page *pairs = NULL;
	while (first) {
		struct page *a = first, *b = a->next;
		first = b ? b->next : NULL;
		a->next = a->prev = NULL;
		if (b)
			b->next = b->prev = NULL;
		struct page *pair = meld(a, b);
		pair->next = pairs; /* a stack: the second pass goes from right to left */
		pairs = pair;
	}
	struct page *root = NULL;
	while (pairs) {
		struct page *pair = pairs;
		pairs = pair->next;
		pair->next = NULL;
		root = meld(root, pair);
	}
	return root;
}

void page_heap_insert(struct page_heap *heap, struct page *page)
{
	page->child = page->next = page->prev = NULL;
	page->place = PAGE_IN_HEAP;
	heap->root = meld(heap->root, page);
}

void page_heap_remove(struct page_heap *heap, struct page *page)
{
	struct page *below = merge_siblings(page->child);
	if (heap->root == page) {
		heap->root = below;
	} else {
		if (page->prev->child == page)
			page->prev->child = page->next;
		else
			page->prev->next = page->next;
		if (page->next)
			page->next->prev = page->prev;
		heap->root = meld(heap->root, below);
	}
	if (heap->root)
		heap->root->prev = NULL;
	page->child = page->next = page->prev = NULL;
	page->place = PAGE_FULL;
}
