/*
 * Pages are cut from chunks: runs of 2 MiB, aligned, so that the kernel may back one with a huge page and a trim gives
 * it back whole. Per chunk, one bit per unit says which units are clean: not part of any page and without memory. A
 * chunk that is all clean is unmapped.
 *
 *     unit:      0     1     2     3     4     5     6     7   ...
 *              [ page of class a ][ clean ][ empty page ][ page of b ]
 *
 * Empty pages wait in lists by their length and are preferred to clean units, the latest first: their memory is there
 * and warm. A page is not made of neighbouring shorter ones; trim turns them into clean units, which are.
 */
#include "space.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "bits.h"
#include "holes.h"
#include "keep.h"
#include "meta.h"
#include "os.h"
#include "page_map.h"
#include "size_class.h"
#include "space_chunk.h"

struct space space = {.lock = PTHREAD_MUTEX_INITIALIZER};

void space_lock(void)
{
	pthread_mutex_lock(&space.lock);
}

void space_unlock(void)
{
	pthread_mutex_unlock(&space.lock);
}

uint32_t space_page_size_bytes(void)
{
	return space.page_size_bytes;
}

void space_init(uint32_t page_size_bytes)
{
	space.page_size_bytes = page_size_bytes;
	space.chunk_bytes = page_size_bytes > SPACE_CHUNK_BYTES ? page_size_bytes : SPACE_CHUNK_BYTES;
	space.chunk_units = (uint32_t)(space.chunk_bytes / page_size_bytes);
}

/* The first run of count set bits that starts at a multiple of count (a power of two), or chunk_units. */
static unsigned find_run(const uint64_t *bits, unsigned count)
{
	for (unsigned first = 0; first + count <= space.chunk_units; first += count) {
		if (count == 1 && bits[first / 64] == 0) {
			first |= 63; /* a whole word without one */
			continue;
		}
		if (bits_are_set(bits, first, first + count))
			return first;
	}
	return space.chunk_units;
}

static void chunk_link(struct chunk *chunk)
{
	chunk->prev = NULL;
	chunk->next = space.with_clean;
	if (chunk->next)
		chunk->next->prev = chunk;
	space.with_clean = chunk;
}

void space_chunk_unlink(struct chunk *chunk)
{
	if (chunk->prev)
		chunk->prev->next = chunk->next;
	else
		space.with_clean = chunk->next;
	if (chunk->next)
		chunk->next->prev = chunk->prev;
}

void space_chunk_add_clean(struct chunk *chunk, unsigned first, unsigned count)
{
	bits_change(chunk->clean, first, first + count, true);
	if (chunk->clean_units == 0)
		chunk_link(chunk);
	chunk->clean_units += count;
}

/* With the lock held. */
static void chunk_publish(struct chunk *chunk)
{
	chunk->next_all = space.all;
	space.all = chunk;
}

/* With the lock held: its addresses are gone. */
void space_chunk_retire(struct chunk *chunk)
{
	chunk->base = NULL;
	chunk->next = space.spare_chunks;
	space.spare_chunks = chunk;
}

/* With the lock held; a chunk whose units are all clean. */
static struct chunk *chunk_create(void)
{
	struct chunk *chunk = space.spare_chunks;
	if (chunk)
		space.spare_chunks = chunk->next;
	else if ((chunk = meta_alloc(sizeof *chunk)) != NULL)
		chunk_publish(chunk);
	else
		return NULL;
	memset(chunk->clean, 0, sizeof chunk->clean);
	chunk->clean_units = chunk->grains = 0;
	chunk->base = keep_map(space.chunk_bytes, space.chunk_bytes);
	if (chunk->base && page_map_reserve(chunk->base, space.chunk_bytes)) {
		space_chunk_add_clean(chunk, 0, space.chunk_units);
		return chunk;
	}
	if (chunk->base)
		os_unmap(chunk->base, space.chunk_bytes);
	space_chunk_retire(chunk);
	return NULL;
}

static unsigned log2_of(uint32_t power)
{
	return (unsigned)__builtin_ctz(power);
}

/* What a page holds: its length without its holes. */
uint64_t space_held_bytes(const struct page *page)
{
	return ((uint64_t)space.page_size_bytes << page->span_log2) - (uint64_t)page->hole_pages * os_page_bytes();
}

/* With the lock held: the page joins those that wait, or leaves them. */
void space_count_waiting(const struct page *page, bool joins)
{
	uint64_t units = (uint64_t)1 << page->span_log2;
	uint64_t bytes = space_held_bytes(page);
	atomic_fetch_add_explicit(&space.empty_pages[page->size_class], joins ? units : 0 - units,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&space.empty_bytes[page->size_class], joins ? bytes : 0 - bytes,
				  memory_order_relaxed);
}

void space_link_waiting(struct page *page)
{
	struct page **list = &space.empty[page->span_log2];
	page->next = *list;
	*list = page;
}

/* With the lock held: an empty page of that length that waits. */
static struct page *take_empty(uint32_t units)
{
	struct page **list = &space.empty[log2_of(units)];
	struct page *page = *list;
	if (page) {
		*list = page->next;
		space_count_waiting(page, false);
	}
	return page;
}

/* With the lock held: a page made of clean units. */
static struct page *take_clean(uint32_t units)
{
	struct chunk *chunk = space.with_clean;
	unsigned first = space.chunk_units;
	for (; chunk; chunk = chunk->next)
		if (chunk->clean_units >= units && (first = find_run(chunk->clean, units)) < space.chunk_units)
			break;
	if (!chunk) {
		chunk = chunk_create();
		if (!chunk)
			return NULL;
		first = 0;
	}
	bits_change(chunk->clean, first, first + units, false);
	chunk->clean_units -= units;
	if (chunk->clean_units == 0)
		space_chunk_unlink(chunk);

	char *base = chunk->base + (size_t)first * space.page_size_bytes;
	union page_slot *slots = page_map_claim(base);
	for (uint32_t i = 0; i < units; i++)
		page_map_claim(base + (size_t)i * space.page_size_bytes)->page.back_units = (uint16_t)i;
	slots->page.base = base;
	slots->page.chunk = chunk;
	slots->page.span_log2 = (uint8_t)log2_of(units);
	slots->page.hole_pages = 0;
	return &slots->page;
}

/* With the lock held: a page that has its bits. One without waits as empty. */
static struct page *take(unsigned size_class)
{
	const struct size_class *c = &size_classes[size_class];
	struct page *page = take_empty(c->span_pages);
	if (!page) {
		page = take_clean(c->span_pages);
		if (!page)
			return NULL;
		page->size_class = (uint8_t)size_class;
	}
	if (!page_map_reserve_bits(page->base, c->grain)) {
		space_link_waiting(page);
		space_count_waiting(page, true);
		return NULL;
	}
	page->chunk->grains |= 1u << c->grain;
	return page;
}

struct page *space_take(unsigned size_class)
{
	space_lock();
	struct page *page = take(size_class);
	space_unlock();
	if (!page)
		return NULL;
	holes_clear(page);
	atomic_store_explicit(&space.was_used[size_class], true, memory_order_relaxed);
	page->size_class = (uint8_t)size_class;
	page->used = page->missing = 0;
	page->is_walked = 0;
	page_map_set_kind(page->base, size_classes[size_class].span_pages, (uint8_t)size_class);
	return page;
}

void space_put(struct page *page)
{
	page_map_set_kind(page->base, (size_t)1 << page->span_log2, QA_CLASS_NONE_);
	page->place = PAGE_EMPTY;
	space_lock();
	space_link_waiting(page);
	space_count_waiting(page, true);
	space_unlock();
}

bool space_was_used(unsigned size_class)
{
	return atomic_load_explicit(&space.was_used[size_class], memory_order_relaxed);
}

struct space_empty space_read_empty(unsigned size_class)
{
	struct space_empty empty = {
		.pages = atomic_load_explicit(&space.empty_pages[size_class], memory_order_relaxed),
		.bytes = atomic_load_explicit(&space.empty_bytes[size_class], memory_order_relaxed),
	};
	uint64_t most_bytes = empty.pages * space.page_size_bytes;
	if (empty.bytes > most_bytes) /* read between two writes */
		empty.bytes = most_bytes;
	return empty;
}

bool space_next_unit(struct space_cursor *cursor, char **unit)
{
	space_lock();
	if (!cursor->is_started) {
		cursor->is_started = true;
		cursor->chunk = space.all;
	}
	while (cursor->chunk && (!cursor->chunk->base || cursor->unit >= space.chunk_units)) {
		cursor->chunk = cursor->chunk->next_all;
		cursor->unit = 0;
	}
	if (cursor->chunk)
		*unit = cursor->chunk->base + (size_t)cursor->unit++ * space.page_size_bytes;
	space_unlock();
	return cursor->chunk != NULL;
}

struct chunk *space_next_chunk(const struct chunk *chunk)
{
	space_lock();
	struct chunk *next = chunk ? chunk->next_all : space.all;
	while (next && !next->base)
		next = next->next_all;
	space_unlock();
	return next;
}

char *space_chunk_base(const struct chunk *chunk)
{
	return chunk->base;
}

uint32_t space_chunk_units(void)
{
	return space.chunk_units;
}
