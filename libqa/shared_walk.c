/*
 * A trim looks into partly used pages one by one. Meanwhile the page's free bits are the walker's: allocations pass it
 * by, and frees set bits that join the others at the end. So the lock is held only to begin and to end, not while the
 * page is measured and the kernel takes memory back.
 *
 * The other walk is that of qa_map, which only reads.
 */
#include <string.h>

#include "holes.h"
#include "os.h"
#include "page_map.h"
#include "shared.h"
#include "shared_class.h"
#include "space.h"

/* With the lock held: the page that has a unit, if it is this class's and worth a look. */
static struct page *page_to_walk(const char *unit, unsigned size_class)
{
	const struct size_class *c = &size_classes[size_class];
	if (page_map_kind(unit) != size_class)
		return NULL;
	struct page *page = page_map_page(unit);
	bool is_listed = page->place == PAGE_IN_HEAP || page->place == PAGE_FULL; /* full: there may be slack */
	if (page->base != unit || !is_listed || page->is_walked)
		return NULL;
	uint64_t page_bytes = (uint64_t)c->span_pages * space_page_size_bytes();
	return page_bytes - (uint64_t)page->used * c->block_size < os_page_bytes() ? NULL : page;
}

/* Only a trim uses it, one at a time: the bits of the page that it works on. The smallest block has 8 bytes. */
static uint64_t walk_bits[(4 << 20) / 8 / 64];

static size_t bits_bytes(const struct size_class *c)
{
	return (c->page_blocks + 63) / 64 * sizeof(uint64_t);
}

/* With the lock held: the page's free blocks are the walker's, so that allocations pass it by. */
static void begin_walk(struct shared *s, struct page *page, const struct size_class *c)
{
	shared_leave(s, page);
	page->place = PAGE_RETURNING;
	page->is_walked = 1;
	uint64_t *bits = page_map_free_bits(page, c->page_blocks);
	memcpy(walk_bits, bits, bits_bytes(c));
	memset(bits, 0, bits_bytes(c));
}

/* With the lock held: what the walker has left comes back, to what was freed meanwhile. */
static void end_walk(struct shared *s, struct page *page, const struct size_class *c, struct holes_made made)
{
	uint64_t *bits = page_map_free_bits(page, c->page_blocks);
	for (size_t i = 0; i < bits_bytes(c) / sizeof *bits; i++)
		bits[i] |= walk_bits[i];
	page->first_word = 0;
	page->missing += made.blocks;
	if (made.is_refused) /* perhaps it is not locked any more when the next trim comes */
		page->is_walked = 0;
	shared_add(&s->hole_bytes, made.bytes);
	shared_add(&s->hole_blocks, made.blocks);
	if (page->used == 0)
		shared_became_empty(s, page, c);
	else
		shared_place(s, page, c);
}

struct shared_page shared_read_page(const char *unit)
{
	unsigned size_class = page_map_kind(unit);
	struct shared_page read = {.size_class = size_class};
	if (size_class == QA_CLASS_NONE_ || size_class == QA_CLASS_LARGE_)
		return read;
	const struct size_class *c = &size_classes[size_class];
	struct shared *s = shared_lock(size_class);
	if (page_map_kind(unit) == size_class) {
		const struct page *page = page_map_page(unit);
		if (page->base == unit && page->used > 0) {
			read.span_pages = c->span_pages;
			read.page_blocks = c->page_blocks;
			read.out_blocks = page->used;
			read.free_blocks = c->page_blocks - page->used - page->missing;
		}
	}
	shared_unlock(s);
	return read;
}

uint64_t shared_return_inside(const char *unit)
{
	unsigned size_class = page_map_kind(unit);
	if (size_class == QA_CLASS_NONE_ || size_class == QA_CLASS_LARGE_)
		return 0;
	const struct size_class *c = &size_classes[size_class];
	struct shared *s = shared_lock(size_class);
	struct page *page = page_to_walk(unit, size_class);
	if (!page) {
		shared_unlock(s);
		return 0;
	}
	begin_walk(s, page, c);
	shared_unlock(s);

	struct holes_made made = holes_make(page, c, walk_bits);

	s = shared_lock(size_class);
	end_walk(s, page, c, made);
	shared_unlock(s);
	return made.bytes;
}
