/*
 * A trim looks into the partly used pages of a chunk. Meanwhile a page's free bits are the walker's: allocations pass
 * it by, and frees set bits that join the others at the end. So the lock is held only to begin and to end, not while
 * the page is measured and the kernel takes memory back.
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

/*
 * Only a trim uses it, one at a time, for the pages of one chunk: the bits of the pages that it works on, each where it
 * would lie if all blocks had the smallest size, of 8 bytes.
 */
static uint64_t walk_bits[(4 << 20) / 8 / 64];

static uint64_t *walk_bits_of(const struct page *page, const struct returns *returns)
{
	return &walk_bits[(size_t)(page->base - returns->base) / 8 / 64];
}

static size_t bits_bytes(const struct size_class *c)
{
	return (c->page_blocks + 63) / 64 * sizeof(uint64_t);
}

/* With the lock held: the page's free blocks are the walker's, so that allocations pass it by. */
static void begin_walk(struct shared *s, struct page *page, const struct size_class *c, uint64_t *walked)
{
	shared_leave(s, page);
	page->place = PAGE_RETURNING;
	page->is_walked = 1;
	uint64_t *bits = page_map_free_bits(page, c);
	memcpy(walked, bits, bits_bytes(c));
	memset(bits, 0, bits_bytes(c));
}

/* With the lock held: what the walker has left comes back, to what was freed meanwhile. */
static void end_walk(struct shared *s, struct page *page, const struct size_class *c, const uint64_t *walked,
		     struct holes_made made)
{
	uint64_t *bits = page_map_free_bits(page, c);
	for (size_t i = 0; i < bits_bytes(c) / sizeof *bits; i++)
		bits[i] |= walked[i];
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

bool shared_walk_begin(const char *unit, struct returns *returns)
{
	unsigned size_class = page_map_kind(unit);
	if (size_class == QA_CLASS_NONE_ || size_class == QA_CLASS_LARGE_)
		return false;
	const struct size_class *c = &size_classes[size_class];
	struct shared *s = shared_lock(size_class);
	struct page *page = page_to_walk(unit, size_class);
	uint64_t *walked = page ? walk_bits_of(page, returns) : NULL;
	if (page)
		begin_walk(s, page, c, walked);
	shared_unlock(s);
	if (page)
		holes_find(page, c, walked, returns);
	return page != NULL;
}

uint64_t shared_walk_end(const char *unit, const struct returns *returns)
{
	struct page *page = page_map_page(unit);
	const struct size_class *c = &size_classes[page->size_class];
	uint64_t *walked = walk_bits_of(page, returns);
	struct holes_made made = holes_settle(page, c, walked, returns);
	struct shared *s = shared_lock(page->size_class);
	end_walk(s, page, c, walked, made);
	shared_unlock(s);
	return made.bytes;
}
