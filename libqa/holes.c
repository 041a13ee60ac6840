/*
 * An OS page can go when every block that overlaps it is free, or missing because of another hole. That is a question
 * of bits: those of the free blocks, and those of the missing ones, which follow from the holes. First the bits of what
 * overlaps a new hole are cleared, then the memory goes back (returns.h). What the kernel refuses (locked memory) is
 * filled in again.
 */
#include "holes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "bits.h"
#include "os.h"
#include "page_map.h"

/* A page seen as OS pages and blocks, both by number. */
struct view {
	const struct page *page;
	_Atomic uint64_t *holes;
	size_t first_bit;
	uint32_t os_bytes, os_pages, block_size, blocks;
	uint64_t reciprocal; /* 2^40 / block_size, rounded up */
};

static struct view view_of(const struct page *page, const struct size_class *c)
{
	uint32_t os_bytes = (uint32_t)os_page_bytes();
	struct view view = {
		.page = page,
		.holes = page_map_leaf_of(page->base)->holes,
		.first_bit = page_map_offset_in_leaf(page->base) / os_bytes,
		.os_bytes = os_bytes,
		.os_pages = (uint32_t)(((uint64_t)1 << (page_map_shift + page->span_log2)) / os_bytes),
		.block_size = c->block_size,
		.blocks = c->page_blocks,
		.reciprocal = (((uint64_t)1 << 40) + c->block_size - 1) / c->block_size,
	};
	return view;
}

/*
 * The number of the block that has a byte at that offset, without a division: the product is above offset / block_size
 * by less than 2^22 / 2^40, and the fraction of a quotient is at most 1 - 1 / 2^15 (the largest block).
 */
static uint32_t block_at(const struct view *view, uint32_t offset)
{
	return (uint32_t)(offset * view->reciprocal >> 40);
}

static bool is_hole(const struct view *view, uint32_t os_page)
{
	size_t bit = view->first_bit + os_page;
	return atomic_load_explicit(&view->holes[bit / 64], memory_order_relaxed) >> (bit % 64) & 1;
}

/* Atomic, since the word has bits of other classes' pages too. */
static void set_hole(const struct view *view, uint32_t os_page, bool value)
{
	size_t bit = view->first_bit + os_page;
	uint64_t mask = (uint64_t)1 << (bit % 64);
	if (value)
		atomic_fetch_or_explicit(&view->holes[bit / 64], mask, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&view->holes[bit / 64], ~mask, memory_order_relaxed);
}

static uint32_t first_os_page(const struct view *view, uint32_t block)
{
	return (uint32_t)((uint64_t)block * view->block_size / view->os_bytes);
}

static uint32_t last_os_page(const struct view *view, uint32_t block)
{
	return (uint32_t)(((uint64_t)(block + 1) * view->block_size - 1) / view->os_bytes);
}

/* The blocks that overlap an OS page: from first to end, exclusive; none in the slack. */
struct range {
	uint32_t first, end;
};

static struct range blocks_on(const struct view *view, uint32_t os_page)
{
	struct range range = {
		.first = block_at(view, os_page * view->os_bytes),
		.end = block_at(view, (os_page + 1) * view->os_bytes - 1) + 1,
	};
	if (range.end > view->blocks)
		range.end = view->blocks;
	if (range.first > range.end)
		range.first = range.end;
	return range;
}

/* Sets or clears the bits of all blocks that overlap a hole. */
static void change_missing(const struct view *view, uint64_t *bits, bool value)
{
	for (uint32_t i = 0; i < view->os_pages; i++)
		if (is_hole(view, i)) {
			struct range range = blocks_on(view, i);
			bits_change(bits, range.first, range.end, value);
		}
}

static uint32_t count_missing(const struct view *view)
{
	uint32_t count = 0, counted_end = 0;
	for (uint32_t i = 0; i < view->os_pages; i++) {
		if (!is_hole(view, i))
			continue;
		struct range range = blocks_on(view, i);
		if (range.first < counted_end)
			range.first = counted_end;
		if (range.end > range.first) {
			count += range.end - range.first;
			counted_end = range.end;
		}
	}
	return count;
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

/* OS pages first to last are no holes any more: the blocks that were missing only for them are free. */
static void fill(const struct view *view, uint32_t first, uint32_t last, uint64_t *bits)
{
	for (uint32_t block = blocks_on(view, first).first; block < blocks_on(view, last).end; block++)
		if (misses_only(view, block, first, last))
			bits[block / 64] |= (uint64_t)1 << (block % 64);
	for (uint32_t i = first; i <= last; i++)
		set_hole(view, i, false);
}

void holes_find(const struct page *page, const struct size_class *c, uint64_t *bits, struct returns *returns)
{
	struct view view = view_of(page, c);
	uint32_t number = returns_number(returns, page->base);
	change_missing(&view, bits, true);
	for (uint32_t i = 0; i < view.os_pages; i++) {
		struct range range = blocks_on(&view, i);
		if (!is_hole(&view, i) && bits_are_set(bits, range.first, range.end))
			returns_add(returns, number + i, number + i + 1);
	}
	for (uint32_t i = 0; i < view.os_pages; i++)
		if (bits_get(returns->pages, number + i))
			set_hole(&view, i, true);
	change_missing(&view, bits, false);
}

struct holes_made holes_settle(struct page *page, const struct size_class *c, uint64_t *bits,
			       const struct returns *returns)
{
	struct view view = view_of(page, c);
	struct holes_made made = {0};
	uint32_t number = returns_number(returns, page->base), pages = 0;
	for (uint32_t i = 0, end; i < view.os_pages; i = end + 1) {
		for (end = i; end < view.os_pages && bits_get(returns->refused, number + end); end++)
			;
		if (end > i) {
			fill(&view, i, end - 1, bits);
			made.is_refused = true;
		}
	}
	for (uint32_t i = 0; i < view.os_pages; i++)
		pages += bits_get(returns->pages, number + i) && !bits_get(returns->refused, number + i);
	page->hole_pages = (uint16_t)(page->hole_pages + pages);
	made.bytes = (uint64_t)pages * view.os_bytes;
	made.blocks = count_missing(&view) - page->missing;
	return made;
}

struct holes_filled holes_fill_first(struct page *page, const struct size_class *c, uint64_t *bits)
{
	struct view view = view_of(page, c);
	uint32_t os_page = 0, holes = 0;
	while (!is_hole(&view, os_page) || blocks_on(&view, os_page).end == blocks_on(&view, os_page).first)
		os_page++;
	uint32_t block = blocks_on(&view, os_page).first;
	uint32_t first = first_os_page(&view, block), last = last_os_page(&view, block);
	for (uint32_t i = first; i <= last; i++)
		holes += is_hole(&view, i);
	fill(&view, first, last, bits);
	page->hole_pages = (uint16_t)(page->hole_pages - holes);
	struct holes_filled filled = {
		.bytes = (uint64_t)holes * view.os_bytes,
		.blocks = page->missing - count_missing(&view),
	};
	return filled;
}

void holes_clear(struct page *page)
{
	if (page->hole_pages == 0)
		return;
	struct size_class none = {.block_size = 1};
	struct view view = view_of(page, &none);
	for (uint32_t i = 0; i < view.os_pages; i++)
		set_hole(&view, i, false);
	page->hole_pages = 0;
}
