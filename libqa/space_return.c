/*
 * Giving empty pages back: the waiting pages are marked in their chunks, so that neighbours go in one call without
 * being sorted; then chunk by chunk, outside the lock, either as a whole or, with what else of it goes, in runs
 * (returns.h).
 */
#include "align.h"
#include "bits.h"
#include "holes.h"
#include "os.h"
#include "page_map.h"
#include "size_class.h"
#include "space.h"
#include "space_chunk.h"

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
			uint64_t bytes = space_held_bytes(page);
			next = page->next;
			if ((size_class != 0 && page->size_class != size_class) || bytes > most_bytes) {
				space_link_waiting(page);
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
	space_count_waiting(page, false);
	page->size_class = (uint8_t)to;
	atomic_store_explicit(&space.was_used[to], true, memory_order_relaxed);
	space_count_waiting(page, true);
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
		space_count_waiting(page, false);
		bytes += space_held_bytes(page);
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
		space_link_waiting(page);
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
	for (unsigned i = 0; i < SPACE_CHUNK_WORDS; i++)
		returning += (unsigned)__builtin_popcountll(chunk->returning[i]);
	if (chunk->clean_units + returning < space.chunk_units)
		return false;
	if (chunk->clean_units > 0)
		space_chunk_unlink(chunk);
	chunk->clean_units = 0;
	for (unsigned first = 0, count; (count = run_of_returning(chunk, &first)) > 0; first += count)
		*returned_bytes += drop_units(chunk, first, count);
	/* again, for its release: whoever has the addresses next acquires it, in page_map_claim */
	page_map_set_kind(chunk->base, space.chunk_units, QA_CLASS_NONE_);
	return true;
}

/* Records that are set anew with each page: the OS pages of which all bytes are in the range. */
static void return_records(void *records, size_t bytes)
{
	uintptr_t first = align_up((uintptr_t)records, os_page_bytes());
	uintptr_t end = ((uintptr_t)records + bytes) & ~(uintptr_t)(os_page_bytes() - 1);
	if (first < end)
		os_return((char *)records + (first - (uintptr_t)records), end - first);
}

/* What the page map has of a chunk without pages. */
static void return_chunk_records(struct chunk *chunk)
{
	for (unsigned grain = 0; grain < SIZE_CLASS_GRAINS; grain++)
		if (chunk->grains >> grain & 1)
			return_records(page_map_far_bits(chunk->base, grain),
				       space.chunk_units * page_map_far_words[grain] * sizeof(uint64_t));
	return_records(page_map_slot(chunk->base), space.chunk_units * sizeof(union page_slot));
	chunk->grains = 0;
}

static void return_chunk_whole(struct chunk *chunk)
{
	return_chunk_records(chunk);
	bool is_unmapped = os_unmap(chunk->base, space.chunk_bytes);
	space_lock();
	if (is_unmapped)
		space_chunk_retire(chunk);
	else
		space_chunk_add_clean(chunk, 0, space.chunk_units);
	space_unlock();
}

struct chunk *space_return_take(void)
{
	space_lock();
	struct chunk *chunk = space.returning;
	if (chunk) {
		space.returning = chunk->next_return;
		chunk->is_returning = false;
	}
	space_unlock();
	return chunk;
}

bool space_return_whole(struct chunk *chunk, uint64_t *returned_bytes)
{
	space_lock();
	bool is_whole = detach_if_all_clean(chunk, returned_bytes);
	space_unlock();
	if (is_whole)
		return_chunk_whole(chunk);
	return is_whole;
}

/* Only the trimming thread sees the chunk's returning bits, so they are read without the lock. */
void space_return_add(const struct chunk *chunk, struct returns *returns)
{
	uint32_t os_pages = (uint32_t)(space.page_size_bytes / os_page_bytes());
	for (unsigned first = 0, count; (count = run_of_returning(chunk, &first)) > 0; first += count)
		returns_add(returns, first * os_pages, (first + count) * os_pages);
}

uint64_t space_return_settle(struct chunk *chunk, const struct returns *returns)
{
	uint32_t os_pages = (uint32_t)(space.page_size_bytes / os_page_bytes());
	uint64_t returned_bytes = 0;
	space_lock();
	for (unsigned first = 0; run_of_returning(chunk, &first) > 0;) {
		unsigned count = 1u << returning_page(chunk, first)->span_log2;
		if (returns_are_refused(returns, first * os_pages, (first + count) * os_pages)) {
			keep_units(chunk, first, count);
		} else {
			returned_bytes += drop_units(chunk, first, count);
			space_chunk_add_clean(chunk, first, count);
		}
		first += count;
	}
	space_unlock();
	return returned_bytes;
}

uint64_t space_return_empty(unsigned size_class, uint64_t most_bytes)
{
	uint64_t returned_bytes = 0;
	const struct chunk *others = space.returning; /* of a trim that gave way */
	struct returns returns;
	space_collect_empty(size_class, most_bytes);
	while (space.returning != others) {
		struct chunk *chunk = space_return_take();
		if (space_return_whole(chunk, &returned_bytes))
			continue;
		returns_init(&returns, chunk->base);
		space_return_add(chunk, &returns);
		returns_run(&returns, space.page_size_bytes);
		returned_bytes += space_return_settle(chunk, &returns);
	}
	return returned_bytes;
}
