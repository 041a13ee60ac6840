/*
 * A large block starts at a multiple of page_size, so that the page map can say what it is by its first unit; its
 * mapping is rounded up to whole units, which also keeps the kernel's next mapping aligned. What is behind the last
 * asked OS page is never touched: in a fresh mapping it is not in memory, in one that was kept (keep.h) it may be, and
 * is held, as slack. Blocks with slack are in a list, under a lock, for trim: it gives the slack back, with the lock
 * held, so that nobody frees the block, or makes it longer, meanwhile.
 *
 * The map's entry is cleared before the addresses go back: another thread may get them at once.
 */
#include "large.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "align.h"
#include "fatal.h"
#include "keep.h"
#include "os.h"
#include "page_map.h"
#include "space.h"

static _Atomic uint64_t held_bytes, used_bytes, blocks, allocs, frees;
static struct page_large with_slack = {.next = &with_slack, .previous = &with_slack};

static void count(_Atomic uint64_t *counter, uint64_t change)
{
	atomic_fetch_add_explicit(counter, change, memory_order_relaxed);
}

static struct page_large *large_of(const void *block, const char *what)
{
	if (page_map_kind(block) == QA_CLASS_LARGE_) {
		struct page_large *large = &page_map_slot(block)->large;
		if (large->base == block)
			return large;
	}
	fatal_block(what, block, UINT32_MAX, UINT32_MAX);
}

static bool measure(size_t size, size_t *size_bytes, size_t *map_bytes)
{
	if (size > PTRDIFF_MAX - 2 * (size_t)space_page_size_bytes()) {
		errno = ENOMEM;
		return false;
	}
	*size_bytes = align_up(size == 0 ? 1 : size, os_page_bytes());
	*map_bytes = align_up(*size_bytes, space_page_size_bytes());
	return true;
}

/* With the lock held. */
static void link_slack(struct page_large *large)
{
	large->next = &with_slack;
	large->previous = with_slack.previous;
	large->previous->next = with_slack.previous = large;
}

/* Likewise. */
static void unlink_slack(struct page_large *large)
{
	if (!large->next)
		return;
	large->previous->next = large->next;
	large->next->previous = large->previous;
	large->next = large->previous = NULL;
}

static void large_register(const struct page_large *large)
{
	struct page_large *slot = &page_map_claim(large->base)->large;
	*slot = *large;
	slot->next = slot->previous = NULL;
	page_map_set_kind(large->base, 1, QA_CLASS_LARGE_);
	if (large->held_bytes == large->size_bytes)
		return;
	keep_lock();
	link_slack(slot);
	keep_unlock();
}

/* The slack is nobody's but the caller's from now on. */
static struct page_large large_own(struct page_large *large)
{
	keep_lock();
	unlink_slack(large);
	struct page_large was = *large;
	keep_unlock();
	return was;
}

/* Addresses for a block: mapped, and with room in the page map. */
static void *map_target(size_t map_bytes, size_t align)
{
	void *target = keep_map(map_bytes, align);
	if (target && !page_map_reserve(target, map_bytes)) {
		os_unmap(target, map_bytes);
		return NULL;
	}
	return target;
}

/* A kept mapping or a fresh one. */
static bool find_memory(struct page_large *large, bool is_zeroed)
{
	size_t kept_bytes = 0;
	large->base = keep_take(large->map_bytes, large->align_bytes, &kept_bytes);
	large->held_bytes = kept_bytes > large->size_bytes ? kept_bytes : large->size_bytes;
	if (!large->base)
		large->base = map_target(large->map_bytes, large->align_bytes);
	else if (is_zeroed)
		memset(large->base, 0, large->size_bytes);
	return large->base != NULL;
}

void *large_alloc(size_t size, size_t align, bool is_zeroed)
{
	size_t size_bytes, map_bytes;
	if (align < space_page_size_bytes())
		align = space_page_size_bytes();
	if (!measure(size, &size_bytes, &map_bytes))
		return NULL;
	struct page_large large = {.size_bytes = size_bytes, .map_bytes = map_bytes, .align_bytes = align};
	if (!find_memory(&large, is_zeroed))
		return NULL;
	large_register(&large);
	count(&held_bytes, large.held_bytes);
	count(&used_bytes, large.size_bytes);
	count(&blocks, 1);
	count(&allocs, 1);
	return large.base;
}

void large_free(void *block, const char *what)
{
	struct page_large *large = large_of(block, what), was = large_own(large);
	count(&held_bytes, (uint64_t)0 - was.held_bytes);
	count(&used_bytes, (uint64_t)0 - was.size_bytes);
	count(&blocks, (uint64_t)0 - 1);
	count(&frees, 1);
	large->base = NULL;
	page_map_set_kind(block, 1, QA_CLASS_NONE_);
	if (!keep_put(was.base, was.map_bytes, was.held_bytes))
		os_unmap(was.base, was.map_bytes);
}

size_t large_usable_size(const void *block, const char *what)
{
	return large_of(block, what)->size_bytes;
}

static void *resize_mapping(void *block, const struct page_large *old, size_t map_bytes)
{
	if (map_bytes == old->map_bytes || os_resize(block, old->map_bytes, map_bytes))
		return block;
	void *target = map_target(map_bytes, old->align_bytes);
	if (!target)
		return NULL;
	page_map_set_kind(block, 1, QA_CLASS_NONE_);
	if (os_move(block, old->map_bytes, target, map_bytes))
		return target;
	page_map_set_kind(block, 1, QA_CLASS_LARGE_);
	return NULL;
}

void *large_realloc(void *block, size_t size)
{
	struct page_large *found = large_of(block, "qa_realloc of what is not a block of libqa, or was freed");
	size_t size_bytes, map_bytes;
	if (!measure(size, &size_bytes, &map_bytes))
		return NULL;
	struct page_large old = large_own(found);
	void *moved = resize_mapping(block, &old, map_bytes);
	if (!moved) {
		large_register(&old);
		errno = ENOMEM;
		return NULL;
	}
	struct page_large large = {.base = moved,
				   .size_bytes = size_bytes,
				   .held_bytes = size_bytes,
				   .map_bytes = map_bytes,
				   .align_bytes = old.align_bytes};
	size_t end_bytes = map_bytes < old.held_bytes ? map_bytes : old.held_bytes;
	bool is_shorter = size_bytes < old.size_bytes;
	if (size_bytes < end_bytes && !(is_shorter && os_return((char *)moved + size_bytes, end_bytes - size_bytes)))
		large.held_bytes = end_bytes;
	large_register(&large);
	count(&held_bytes, large.held_bytes - old.held_bytes);
	count(&used_bytes, size_bytes - old.size_bytes);
	return moved;
}

/* One block's. With the lock held; it is in the list again when the kernel refused. */
static uint64_t return_slack(struct page_large *large)
{
	uint64_t slack_bytes = large->held_bytes - large->size_bytes;
	unlink_slack(large);
	if (!os_return(large->base + large->size_bytes, slack_bytes)) {
		link_slack(large);
		return 0;
	}
	large->held_bytes = large->size_bytes;
	count(&held_bytes, (uint64_t)0 - slack_bytes);
	return slack_bytes;
}

uint64_t large_return_slack(uint64_t most_bytes)
{
	uint64_t returned_bytes = 0, left = atomic_load_explicit(&blocks, memory_order_relaxed);
	bool is_more = true;
	while (is_more && left-- > 0) {
		keep_lock();
		struct page_large *large = with_slack.next;
		is_more = large != &with_slack && large->held_bytes - large->size_bytes <= most_bytes - returned_bytes;
		if (is_more)
			returned_bytes += return_slack(large);
		keep_unlock();
	}
	return returned_bytes;
}

struct large_counts large_read_counts(void)
{
	struct large_counts counts = {
		.held_bytes = atomic_load_explicit(&held_bytes, memory_order_relaxed),
		.used_bytes = atomic_load_explicit(&used_bytes, memory_order_relaxed),
		.blocks = atomic_load_explicit(&blocks, memory_order_relaxed),
		.allocs = atomic_load_explicit(&allocs, memory_order_relaxed),
		.frees = atomic_load_explicit(&frees, memory_order_relaxed),
	};
	return counts;
}
