/*
 * A page is measured first: for each of its OS pages, how many bytes are free. The free blocks come as a chain, in no
 * order; the fresh ones and the slack behind them are one range; blocks missing because of earlier holes are found from
 * the bits. An OS page that is free to the last byte becomes a hole: first the blocks that overlap it leave the chain,
 * whose links lie in that memory, then it is given back, neighbours in one call. If the kernel refuses (locked memory),
 * those blocks are simply filled in again.
 */
#include "holes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "os.h"
#include "page_map.h"

enum { OS_PAGES_MAX = (4 << 20) / (4 << 10) };

/* A page seen as OS pages and blocks, both by number. */
struct view {
	const struct page *page;
	_Atomic uint64_t *bits;
	size_t first_bit;
	uint32_t os_bytes, os_pages, block_size, blocks;
	uint64_t page_bytes;
};

static struct view view_of(const struct page *page, const struct size_class *c)
{
	struct page_map_leaf *leaf = page_map_leaf_of(page->base);
	uint32_t os_bytes = (uint32_t)os_page_bytes();
	uint64_t page_bytes = (uint64_t)1 << (page_map_shift + page->span_log2);
	struct view view = {
		.page = page,
		.bits = leaf->holes,
		.first_bit = ((uintptr_t)page->base & (((uintptr_t)1 << PAGE_MAP_LEAF_BITS) - 1)) / os_bytes,
		.os_bytes = os_bytes,
		.os_pages = (uint32_t)(page_bytes / os_bytes),
		.block_size = c->block_size,
		.blocks = c->page_blocks,
		.page_bytes = page_bytes,
	};
	return view;
}

static bool is_hole(const struct view *view, uint32_t os_page)
{
	size_t bit = view->first_bit + os_page;
	return atomic_load_explicit(&view->bits[bit / 64], memory_order_relaxed) >> (bit % 64) & 1;
}

/* Atomic, since the word has bits of other classes' pages too. */
static void set_hole(const struct view *view, uint32_t os_page, bool value)
{
	size_t bit = view->first_bit + os_page;
	uint64_t mask = (uint64_t)1 << (bit % 64);
	if (value)
		atomic_fetch_or_explicit(&view->bits[bit / 64], mask, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&view->bits[bit / 64], ~mask, memory_order_relaxed);
}

static uint32_t first_os_page(const struct view *view, uint32_t block)
{
	return (uint32_t)((uint64_t)block * view->block_size / view->os_bytes);
}

static uint32_t last_os_page(const struct view *view, uint32_t block)
{
	return (uint32_t)(((uint64_t)(block + 1) * view->block_size - 1) / view->os_bytes);
}

static bool overlaps_hole(const struct view *view, uint32_t block)
{
	uint32_t last = last_os_page(view, block);
	for (uint32_t i = first_os_page(view, block); i <= last; i++)
		if (is_hole(view, i))
			return true;
	return false;
}

/* The first block at or after block that overlaps a hole, or view->blocks. */
static uint32_t next_missing(const struct view *view, uint32_t block)
{
	while (block < view->blocks && !overlaps_hole(view, block)) {
		uint32_t os_page = last_os_page(view, block) + 1;
		while (os_page < view->os_pages && !is_hole(view, os_page))
			os_page++;
		if (os_page == view->os_pages)
			return view->blocks;
		uint32_t next = (uint32_t)((uint64_t)os_page * view->os_bytes / view->block_size);
		block = next > block ? next : block + 1;
	}
	return block;
}

/* Adds the bytes of a range to the count of each OS page that it overlaps. */
static void add_range(const struct view *view, uint32_t *free_bytes, uint64_t start, uint64_t end)
{
	while (start < end) {
		uint64_t os_end = (start / view->os_bytes + 1) * view->os_bytes;
		uint64_t stop = os_end < end ? os_end : end;
		free_bytes[start / view->os_bytes] += (uint32_t)(stop - start);
		start = stop;
	}
}

static uint32_t block_number(const struct view *view, const void *block)
{
	return (uint32_t)((uint64_t)((const char *)block - view->page->base) / view->block_size);
}

static void measure(const struct view *view, struct holes_free *free, uint32_t *free_bytes)
{
	memset(free_bytes, 0, view->os_pages * sizeof *free_bytes);
	for (void *block = free->chain; block; block = *(void **)block) {
		uint64_t start = (uint64_t)((char *)block - view->page->base);
		add_range(view, free_bytes, start, start + view->block_size);
		free->last = block;
	}
	add_range(view, free_bytes, (uint64_t)free->fresh * view->block_size, view->page_bytes);
	for (uint32_t block = next_missing(view, 0); block < free->fresh; block = next_missing(view, block + 1))
		add_range(view, free_bytes, (uint64_t)block * view->block_size,
			  (uint64_t)(block + 1) * view->block_size);
}

uint32_t holes_blocks(const struct page *page, const struct size_class *c)
{
	struct view view = view_of(page, c);
	uint32_t count = 0;
	if (page->hole_pages == 0)
		return 0;
	for (uint32_t block = next_missing(&view, 0); block < view.blocks; block = next_missing(&view, block + 1))
		count++;
	return count;
}

static void chain_append(struct holes_free *free, void *block)
{
	*(void **)block = NULL;
	if (free->last)
		*(void **)free->last = block;
	else
		free->chain = block;
	free->last = block;
}

/* Leaves in the chain what overlaps no hole, and adds the fresh blocks of which that is true. */
static void keep_whole_blocks(const struct view *view, struct holes_free *free)
{
	void *block = free->chain;
	free->chain = free->last = NULL;
	while (block) {
		void *next = *(void **)block;
		if (!overlaps_hole(view, block_number(view, block)))
			chain_append(free, block);
		block = next;
	}
	for (uint32_t i = free->fresh; i < view->blocks; i++)
		if (!overlaps_hole(view, i))
			chain_append(free, view->page->base + (size_t)i * view->block_size);
	free->fresh = view->blocks;
}

/* Whether a block is missing, and would not be if OS pages first to last were no holes. */
static bool misses_only(const struct view *view, uint32_t block, uint32_t first, uint32_t last)
{
	uint32_t end = last_os_page(view, block);
	bool is_missing = false;
	for (uint32_t i = first_os_page(view, block); i <= end; i++) {
		if (!is_hole(view, i))
			continue;
		if (i < first || i > last)
			return false;
		is_missing = true;
	}
	return is_missing;
}

/* OS pages first to last are no holes any more: the blocks that were missing only for them are added to the chain. */
static uint32_t fill(const struct view *view, uint32_t first, uint32_t last, struct holes_free *free)
{
	uint32_t count = 0;
	uint32_t block = (uint32_t)((uint64_t)first * view->os_bytes / view->block_size);
	for (; block < view->blocks && first_os_page(view, block) <= last; block++) {
		if (!misses_only(view, block, first, last))
			continue;
		chain_append(free, view->page->base + (size_t)block * view->block_size);
		count++;
	}
	for (uint32_t i = first; i <= last; i++)
		set_hole(view, i, false);
	return count;
}

struct holes_made holes_make(struct page *page, const struct size_class *c, struct holes_free *free)
{
	uint32_t free_bytes[OS_PAGES_MAX];
	struct view view = view_of(page, c);
	struct holes_made made = {0, 0};
	uint32_t blocks_before = holes_blocks(page, c);
	bool found = false;

	measure(&view, free, free_bytes);
	for (uint32_t i = 0; i < view.os_pages; i++) {
		bool is_new = free_bytes[i] == view.os_bytes && !is_hole(&view, i);
		free_bytes[i] = is_new;
		found |= is_new;
	}
	if (!found)
		return made;
	for (uint32_t i = 0; i < view.os_pages; i++)
		if (free_bytes[i])
			set_hole(&view, i, true);
	keep_whole_blocks(&view, free);
	for (uint32_t i = 0, end; i < view.os_pages; i = end + 1) {
		for (end = i; end < view.os_pages && free_bytes[end]; end++)
			;
		if (end == i)
			continue;
		if (os_return(page->base + (size_t)i * view.os_bytes, (size_t)(end - i) * view.os_bytes)) {
			page->hole_pages = (uint16_t)(page->hole_pages + end - i);
			made.bytes += (uint64_t)(end - i) * view.os_bytes;
		} else {
			fill(&view, i, end - 1, free);
		}
	}
	made.blocks = holes_blocks(page, c) - blocks_before;
	return made;
}

struct holes_filled holes_fill_first(struct page *page, const struct size_class *c)
{
	struct view view = view_of(page, c);
	struct holes_free free = {0};
	uint32_t block = next_missing(&view, 0);
	uint32_t first = first_os_page(&view, block), last = last_os_page(&view, block), holes = 0;

	for (uint32_t i = first; i <= last; i++)
		holes += is_hole(&view, i);
	struct holes_filled filled = {
		.bytes = (uint64_t)holes * view.os_bytes,
		.blocks = fill(&view, first, last, &free),
	};
	*(void **)free.last = page->free;
	page->free = free.chain;
	page->hole_pages = (uint16_t)(page->hole_pages - holes);
	return filled;
}

void holes_clear(struct page *page, uint64_t page_bytes)
{
	if (page->hole_pages == 0)
		return;
	struct view view = {.page = page, .os_bytes = (uint32_t)os_page_bytes()};
	view.bits = page_map_leaf_of(page->base)->holes;
	view.first_bit = ((uintptr_t)page->base & (((uintptr_t)1 << PAGE_MAP_LEAF_BITS) - 1)) / view.os_bytes;
	for (uint32_t i = 0; i < page_bytes / view.os_bytes; i++)
		set_hole(&view, i, false);
	page->hole_pages = 0;
}
