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
#include "meta.h"
#include "os.h"
#include "page_map.h"
#include "size_class.h"

enum { CHUNK_BYTES_MIN = 2 << 20, UNIT_BYTES_MIN = 4 << 10 };
enum { CHUNK_UNITS_MAX = CHUNK_BYTES_MIN / UNIT_BYTES_MIN, WORDS = CHUNK_UNITS_MAX / 64, SPANS = 8 };

struct chunk {
	char *base;
	struct chunk *next, *prev; /* chunks that have a clean unit */
	struct chunk *next_return; /* in the space's list of that name */
	struct chunk *next_all;    /* constant */
	uint32_t clean_units;
	bool is_returning; /* likewise */
	uint64_t clean[WORDS];
	uint64_t returning[WORDS]; /* a trim works on them: not clean yet, not waiting any more */
};

static struct {
	pthread_mutex_t lock;
	uint32_t page_size_bytes;
	size_t chunk_bytes;
	uint32_t chunk_units;
	struct chunk *with_clean;
	struct chunk *spare_chunks;               /* descriptors of unmapped chunks, by next */
	struct page *empty[SPANS];                /* by log2 of the length in units, linked by next */
	struct chunk *returning;                  /* that have a bit in returning, by next_return */
	struct chunk *all;                        /* every descriptor ever made, by next_all */
	_Atomic uint64_t empty_bytes[QA_CACHES_]; /* that wait, without their holes; written under the lock */
	_Atomic uint64_t empty_pages[QA_CACHES_]; /* likewise, in units */
} space = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
	space.chunk_bytes = page_size_bytes > CHUNK_BYTES_MIN ? page_size_bytes : CHUNK_BYTES_MIN;
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

static void chunk_unlink(struct chunk *chunk)
{
	if (chunk->prev)
		chunk->prev->next = chunk->next;
	else
		space.with_clean = chunk->next;
	if (chunk->next)
		chunk->next->prev = chunk->prev;
}

static void chunk_add_clean(struct chunk *chunk, unsigned first, unsigned count)
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
static void chunk_retire(struct chunk *chunk)
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
	chunk->clean_units = 0;
	chunk->base = os_map(space.chunk_bytes, space.chunk_bytes);
	if (chunk->base && page_map_reserve(chunk->base, space.chunk_bytes)) {
		chunk_add_clean(chunk, 0, space.chunk_units);
		return chunk;
	}
	if (chunk->base)
		os_unmap(chunk->base, space.chunk_bytes);
	chunk_retire(chunk);
	return NULL;
}

static unsigned log2_of(uint32_t power)
{
	return (unsigned)__builtin_ctz(power);
}

/* What a page holds: its length without its holes. */
static uint64_t held_bytes(const struct page *page)
{
	return ((uint64_t)space.page_size_bytes << page->span_log2) - (uint64_t)page->hole_pages * os_page_bytes();
}

/* With the lock held: the page joins those that wait, or leaves them. */
static void count_waiting(const struct page *page, bool joins)
{
	uint64_t units = (uint64_t)1 << page->span_log2;
	uint64_t bytes = held_bytes(page);
	atomic_fetch_add_explicit(&space.empty_pages[page->size_class], joins ? units : 0 - units,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&space.empty_bytes[page->size_class], joins ? bytes : 0 - bytes,
				  memory_order_relaxed);
}

static void link_waiting(struct page *page)
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
		count_waiting(page, false);
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
		chunk_unlink(chunk);

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

struct page *space_take(unsigned size_class)
{
	uint32_t units = size_classes[size_class].span_pages;
	space_lock();
	struct page *page = take_empty(units);
	if (!page)
		page = take_clean(units);
	space_unlock();
	if (!page)
		return NULL;
	holes_clear(page);
	page->size_class = (uint8_t)size_class;
	page->used = page->missing = 0;
	page->is_walked = 0;
	page_map_set_kind(page->base, units, (uint8_t)size_class);
	return page;
}

void space_put(struct page *page)
{
	page_map_set_kind(page->base, (size_t)1 << page->span_log2, QA_CLASS_NONE_);
	page->place = PAGE_EMPTY;
	space_lock();
	link_waiting(page);
	count_waiting(page, true);
	space_unlock();
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

static unsigned unit_in_chunk(const struct page *page)
{
	return (unsigned)((size_t)(page->base - page->chunk->base) / space.page_size_bytes);
}

/* With the lock held: a waiting page is marked in its chunk, and the chunk put in front of those that are returning. */
static void mark_returning(const struct page *page)
{
	struct chunk *chunk = page->chunk;
	unsigned first = unit_in_chunk(page);
	bits_change(chunk->returning, first, first + (1u << page->span_log2), true);
	if (chunk->is_returning)
		return;
	chunk->is_returning = true;
	chunk->next_return = space.returning;
	space.returning = chunk;
}

void space_collect_empty(unsigned size_class, uint64_t most_bytes)
{
	space_lock();
	for (unsigned span = 0; span < SPANS; span++) {
		struct page *waiting = space.empty[span];
		space.empty[span] = NULL;
		for (struct page *page = waiting, *next; page; page = next) {
			uint64_t bytes = held_bytes(page);
			next = page->next;
			if ((size_class != 0 && page->size_class != size_class) || bytes > most_bytes) {
				link_waiting(page);
				continue;
			}
			most_bytes -= bytes;
			mark_returning(page);
		}
	}
	space_unlock();
}

static struct page *returning_page(const struct chunk *chunk, unsigned unit)
{
	return &page_map_slot(chunk->base + (size_t)unit * space.page_size_bytes)->page;
}

static void reassign(struct page *page, unsigned from, unsigned to)
{
	if (page->size_class != from)
		return;
	count_waiting(page, false);
	page->size_class = (uint8_t)to;
	count_waiting(page, true);
}

void space_reassign_empty(unsigned from, unsigned to)
{
	space_lock();
	for (unsigned span = 0; span < SPANS; span++)
		for (struct page *page = space.empty[span]; page; page = page->next)
			reassign(page, from, to);
	for (struct chunk *chunk = space.returning; chunk; chunk = chunk->next_return)
		for (unsigned i = 0; i < space.chunk_units; i++)
			if (bits_get(chunk->returning, i)) {
				struct page *page = returning_page(chunk, i);
				reassign(page, from, to);
				i += (1u << page->span_log2) - 1;
			}
	space_unlock();
}

/*
 * With the lock held: the pages of these units are no more. The addresses must still be ours, and with them the
 * descriptors. Returns the bytes that they held.
 */
static uint64_t drop_units(struct chunk *chunk, unsigned first, unsigned count)
{
	uint64_t bytes = 0;
	bits_change(chunk->returning, first, first + count, false);
	for (unsigned i = first; i < first + count;) {
		struct page *page = returning_page(chunk, i);
		count_waiting(page, false);
		bytes += held_bytes(page);
		holes_clear(page);
		i += 1u << page->span_log2;
	}
	return bytes;
}

/* With the lock held: the pages of these units, which the kernel did not take, wait again. */
static void keep_units(struct chunk *chunk, unsigned first, unsigned count)
{
	bits_change(chunk->returning, first, first + count, false);
	for (unsigned i = first; i < first + count;) {
		struct page *page = returning_page(chunk, i);
		link_waiting(page);
		i += 1u << page->span_log2;
	}
}

static unsigned run_of_returning(const struct chunk *chunk, unsigned *first)
{
	while (*first < space.chunk_units && !bits_get(chunk->returning, *first))
		++*first;
	unsigned end = *first;
	while (end < space.chunk_units && bits_get(chunk->returning, end))
		end++;
	return end - *first;
}

/*
 * With the lock held: a chunk that would become all clean goes as a whole; it leaves the list, so that nobody takes
 * from it. Its pages are forgotten now: once it is unmapped, others may have its addresses and their descriptors.
 */
static bool detach_if_all_clean(struct chunk *chunk, uint64_t *returned_bytes)
{
	unsigned returning = 0;
	for (unsigned i = 0; i < WORDS; i++)
		returning += (unsigned)__builtin_popcountll(chunk->returning[i]);
	if (chunk->clean_units + returning < space.chunk_units)
		return false;
	if (chunk->clean_units > 0)
		chunk_unlink(chunk);
	chunk->clean_units = 0;
	for (unsigned first = 0, count; (count = run_of_returning(chunk, &first)) > 0; first += count)
		*returned_bytes += drop_units(chunk, first, count);
	/* again, for its release: whoever has the addresses next acquires it, in page_map_claim */
	page_map_set_kind(chunk->base, space.chunk_units, QA_CLASS_NONE_);
	return true;
}

/* What the page map has of a chunk without pages, where that is whole OS pages: it is set anew with each page. */
static void return_records(const struct chunk *chunk)
{
	size_t bits_bytes = space.chunk_bytes / 8 / 8, slots_bytes = space.chunk_units * sizeof(union page_slot);
	if (bits_bytes % os_page_bytes() == 0)
		os_return(page_map_far_bits(chunk->base), bits_bytes);
	if (slots_bytes % os_page_bytes() == 0)
		os_return(page_map_slot(chunk->base), slots_bytes);
}

static void return_chunk_whole(struct chunk *chunk)
{
	return_records(chunk);
	bool is_unmapped = os_unmap(chunk->base, space.chunk_bytes);
	space_lock();
	if (is_unmapped)
		chunk_retire(chunk);
	else
		chunk_add_clean(chunk, 0, space.chunk_units);
	space_unlock();
}

/* Only the trimming thread sees the chunk's returning bits, so they are read without the lock. */
static uint64_t return_chunk_runs(struct chunk *chunk)
{
	uint64_t returned_bytes = 0;
	for (unsigned first = 0, count; (count = run_of_returning(chunk, &first)) > 0; first += count) {
		bool is_returned = os_return(chunk->base + (size_t)first * space.page_size_bytes,
					     (size_t)count * space.page_size_bytes);
		space_lock();
		if (is_returned) {
			returned_bytes += drop_units(chunk, first, count);
			chunk_add_clean(chunk, first, count);
		} else {
			keep_units(chunk, first, count);
		}
		space_unlock();
	}
	return returned_bytes;
}

bool space_return_next(uint64_t *returned_bytes)
{
	space_lock();
	struct chunk *chunk = space.returning;
	bool is_whole = false;
	if (chunk) {
		space.returning = chunk->next_return;
		chunk->is_returning = false;
		is_whole = detach_if_all_clean(chunk, returned_bytes);
	}
	space_unlock();
	if (!chunk)
		return false;
	if (is_whole)
		return_chunk_whole(chunk);
	else
		*returned_bytes += return_chunk_runs(chunk);
	return true;
}

uint64_t space_return_empty(unsigned size_class, uint64_t most_bytes)
{
	uint64_t returned_bytes = 0;
	const struct chunk *others = space.returning; /* of a trim that gave way */
	space_collect_empty(size_class, most_bytes);
	while (space.returning != others)
		space_return_next(&returned_bytes);
	return returned_bytes;
}
