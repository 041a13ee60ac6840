/*
 * A large block starts at a multiple of page_size, so that the page map can say what it is by its first unit; the
 * mapping is rounded up to whole units, which also keeps the kernel's next mapping aligned. What is behind the last
 * asked OS page is never touched and not counted. A block that takes a mapping that was kept (keep.h) has all
 * of what may be in memory there, up to an eighth more than was asked for.
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

static _Atomic uint64_t used_bytes, blocks, allocs, frees;

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

static void large_register(void *base, size_t size_bytes, size_t map_bytes, size_t align)
{
	page_map_claim(base)->large = (struct page_large){base, size_bytes, map_bytes, align};
	page_map_set_kind(base, 1, QA_CLASS_LARGE_);
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

void *large_alloc(size_t size, size_t align, bool is_zeroed)
{
	size_t size_bytes, map_bytes, kept_bytes;
	if (align < space_page_size_bytes())
		align = space_page_size_bytes();
	if (!measure(size, &size_bytes, &map_bytes))
		return NULL;
	void *base = keep_take(size_bytes, align, &kept_bytes);
	if (base) {
		size_bytes = kept_bytes;
		map_bytes = align_up(size_bytes, space_page_size_bytes());
		if (is_zeroed)
			memset(base, 0, size_bytes);
	} else {
		base = map_target(map_bytes, align);
	}
	if (!base)
		return NULL;
	large_register(base, size_bytes, map_bytes, align);
	count(&used_bytes, size_bytes);
	count(&blocks, 1);
	count(&allocs, 1);
	return base;
}

void large_free(void *block, const char *what)
{
	struct page_large *large = large_of(block, what);
	size_t size_bytes = large->size_bytes, map_bytes = large->map_bytes;
	count(&used_bytes, (uint64_t)0 - size_bytes);
	count(&blocks, (uint64_t)0 - 1);
	count(&frees, 1);
	large->base = NULL;
	page_map_set_kind(block, 1, QA_CLASS_NONE_);
	if (!keep_put(block, size_bytes))
		os_unmap(block, map_bytes);
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
	struct page_large old = *large_of(block, "qa_realloc of what is not a block of libqa, or was freed");
	size_t size_bytes, map_bytes;
	if (!measure(size, &size_bytes, &map_bytes))
		return NULL;
	if (size_bytes <= old.size_bytes && old.size_bytes - size_bytes <= size_bytes / 8)
		return block;
	void *moved = resize_mapping(block, &old, map_bytes);
	if (!moved) {
		errno = ENOMEM;
		return NULL;
	}
	large_register(moved, size_bytes, map_bytes, old.align_bytes);
	count(&used_bytes, size_bytes - old.size_bytes);
	size_t end_bytes = map_bytes < old.size_bytes ? map_bytes : old.size_bytes;
	if (size_bytes < end_bytes)
		os_return((char *)moved + size_bytes, end_bytes - size_bytes);
	return moved;
}

struct large_counts large_read_counts(void)
{
	struct large_counts counts = {
		.used_bytes = atomic_load_explicit(&used_bytes, memory_order_relaxed),
		.blocks = atomic_load_explicit(&blocks, memory_order_relaxed),
		.allocs = atomic_load_explicit(&allocs, memory_order_relaxed),
		.frees = atomic_load_explicit(&frees, memory_order_relaxed),
	};
	return counts;
}
