/*
 * A large block starts at a multiple of page_size, so that the page map can say what it is by its first unit; its
 * mapping is rounded up to whole units, which also keeps the kernel's next mapping aligned. What is behind the last
 * asked OS page is never touched: in a fresh mapping it is not in memory, in one that was kept (keep.h) it may be, and
 * is held, as slack. Blocks with slack are in a list, under a lock, for trim: it gives the slack back, with the lock
 * held, so that nobody frees the block, or makes it longer, meanwhile. The counters are written under it, too: those of
 * a forked child add up, whatever other threads were doing.
 *
 * The map's entry is cleared before the addresses go back: another thread may get them at once.
 *
 * What the kernel has of a block need not be one mapping of its own: neighbours that became one range here may be
 * several there, and a program may give advice about a part of a block. Then it moves nothing, and we copy.
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

static _Atomic uint64_t held_bytes, used_bytes, blocks, allocs, frees; /* written with the lock held */
static struct page_large with_slack = {.next = &with_slack, .previous = &with_slack};

/* With the lock held. */
static void count(_Atomic uint64_t *counter, uint64_t change)
{
	uint64_t sum = atomic_load_explicit(counter, memory_order_relaxed) + change;
	atomic_store_explicit(counter, sum, memory_order_relaxed);
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

/* The block is there from now on: a new one (NULL), or instead of what large_own was given. */
static void large_register(const struct page_large *large, const struct page_large *instead_of)
{
	struct page_large *slot = &page_map_claim(large->base)->large;
	*slot = *large;
	slot->next = slot->previous = NULL;
	page_map_set_kind(large->base, 1, QA_CLASS_LARGE_);
	keep_lock();
	if (large->held_bytes != large->size_bytes)
		link_slack(slot);
	uint64_t was_bytes = instead_of ? instead_of->size_bytes : 0;
	count(&held_bytes, large->held_bytes - was_bytes);
	count(&used_bytes, large->size_bytes - was_bytes);
	count(&blocks, instead_of ? 0 : 1);
	count(&allocs, instead_of ? 0 : 1);
	keep_unlock();
}

/*
 * The block is nobody's but the caller's from now on: trim does not know it, and who frees it at the same time, though
 * the program may not, is told. Unless it is freed, it counts as used without slack until it is registered again.
 */
static struct page_large large_own(const void *block, const char *what, bool is_freed)
{
	struct page_large *large = large_of(block, what);
	keep_lock();
	struct page_large was = *large;
	if (was.base == block) {
		unlink_slack(large);
		large->base = NULL;
		count(&held_bytes, (is_freed ? 0 : was.size_bytes) - was.held_bytes);
		count(&used_bytes, is_freed ? (uint64_t)0 - was.size_bytes : 0);
		count(&blocks, is_freed ? (uint64_t)0 - 1 : 0);
		count(&frees, is_freed ? 1 : 0);
	}
	keep_unlock();
	if (was.base != block)
		fatal_block(what, block, UINT32_MAX, UINT32_MAX);
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

/*
 * A kept mapping or a fresh one. To clear a kept one of 4 MiB took 80 us where the faults of a fresh one, once it is
 * written, take 2 ms; one that is hardly written would have been there in 20 us.
 */
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
	large_register(&large, NULL);
	return large.base;
}

void large_free(void *block, const char *what)
{
	struct page_large was = large_own(block, what, true);
	page_map_set_kind(block, 1, QA_CLASS_NONE_);
	keep_put(was.base, was.map_bytes, was.held_bytes);
}

size_t large_usable_size(const void *block, const char *what)
{
	return large_of(block, what)->size_bytes;
}

/* The new addresses must be known before: once the block is freed, another one may start at any of its units. */
static bool grow_in_place(const struct page_large *large, size_t map_bytes)
{
	return page_map_reserve(large->base, map_bytes) && os_resize(large->base, large->map_bytes, map_bytes);
}

static bool move_mapping(struct page_large *large, size_t map_bytes)
{
	void *target = map_target(map_bytes, large->align_bytes);
	if (!target)
		return false;
	page_map_set_kind(large->base, 1, QA_CLASS_NONE_);
	if (!os_move(large->base, large->map_bytes, target, map_bytes)) {
		page_map_set_kind(large->base, 1, QA_CLASS_LARGE_);
		return false;
	}
	large->base = target;
	return true;
}

/* False: it can not be made longer. One that the kernel does not shorten stays as it is. */
static bool resize_mapping(struct page_large *large, size_t map_bytes)
{
	if (map_bytes < large->map_bytes && !os_resize(large->base, large->map_bytes, map_bytes))
		return true;
	if (map_bytes > large->map_bytes && !grow_in_place(large, map_bytes) && !move_mapping(large, map_bytes))
		return false;
	large->map_bytes = map_bytes;
	return true;
}

static void *grow_by_copy(const struct page_large *old, size_t size)
{
	void *moved = large_alloc(size, old->align_bytes, false);
	if (!moved) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(moved, old->base, old->size_bytes);
	large_free(old->base, "realloc of a block that was freed meanwhile");
	return moved;
}

void *large_realloc(void *block, size_t size)
{
	size_t size_bytes, map_bytes;
	if (!measure(size, &size_bytes, &map_bytes))
		return NULL;
	struct page_large old = large_own(block, "realloc of what is not a block of libqa, or was freed", false);
	struct page_large large = old;
	if (!resize_mapping(&large, map_bytes)) {
		large_register(&old, &old);
		return grow_by_copy(&old, size);
	}
	size_t end_bytes = large.map_bytes < old.held_bytes ? large.map_bytes : old.held_bytes;
	bool is_shorter = size_bytes < old.size_bytes;
	large.size_bytes = large.held_bytes = size_bytes;
	if (size_bytes < end_bytes && !(is_shorter && os_return(large.base + size_bytes, end_bytes - size_bytes)))
		large.held_bytes = end_bytes;
	large_register(&large, &old);
	return large.base;
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
