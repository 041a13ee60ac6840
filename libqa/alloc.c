/*
 * The public allocation calls that are not inline: they find the class and go the same way, or to large blocks.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "align.h"
#include "init.h"
#include "large.h"
#include "page_map.h"
#include "qa.h"
#include "size_class.h"

enum { MALLOC_ALIGN = 16 };

/* What begins in the middle of a cache line costs a tenth more. */
#define HOT __attribute__((aligned(64)))

static void *alloc_large(size_t size, size_t align, bool is_zeroed)
{
	if (!init_ensure()) {
		errno = ENOMEM;
		return NULL;
	}
	return large_alloc(size, align, is_zeroed);
}

void *qa_alloc_any_(size_t size, size_t align)
{
	if (!align_is_valid(align)) {
		errno = EINVAL;
		return NULL;
	}
	unsigned size_class = size_class_of_aligned(size, align);
	return size_class == QA_CLASS_LARGE_ ? alloc_large(size, align, false) : qa_alloc_class_(size_class);
}

void qa_dealloc_any_(void *block, size_t size, size_t align)
{
	if (block)
		qa_dealloc_class_(block, size_class_of_aligned(size, align));
}

/* Above the tables, where both kinds of alignment have the same classes. */
static __attribute__((noinline)) void *alloc_bigger(size_t size)
{
	return size > SIZE_CLASS_MAX_BYTES ? alloc_large(size, MALLOC_ALIGN, false)
					   : qa_alloc_class_(qa_class_of_(size));
}

HOT void *qa_malloc(size_t size)
{
	if (QA_UNLIKELY_(size > SIZE_CLASS_TABLE_BYTES))
		return alloc_bigger(size);
	return qa_alloc_class_(size_class_table[(size + 15) / 16]);
}

HOT void *qa_alloc_packed_(size_t size)
{
	if (QA_UNLIKELY_(size > SIZE_CLASS_TABLE_BYTES))
		return alloc_bigger(size);
	return qa_alloc_class_(size_class_packed[(size + 7) / 8]);
}

HOT void qa_dealloc_packed_(void *block, size_t size)
{
	if (QA_UNLIKELY_(size > SIZE_CLASS_TABLE_BYTES))
		qa_free_sized(block, size);
	else if (block)
		qa_dealloc_class_(block, size_class_packed[(size + 7) / 8]);
}

/* Not in the window of the page map. */
static __attribute__((noinline)) void free_outside(void *block)
{
	qa_dealloc_class_(block, page_map_kind(block));
}

HOT void qa_free(void *block)
{
	unsigned kind;
	if (QA_LIKELY_(page_map_window_kind(block, &kind)))
		qa_dealloc_class_(block, kind);
	else
		free_outside(block);
}

HOT void qa_free_sized(void *block, size_t size)
{
	if (block)
		qa_dealloc_class_(block, size_class_of_malloc(size));
}

void *qa_calloc(size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	unsigned size_class = size_class_of_malloc(bytes);
	if (size_class == QA_CLASS_LARGE_)
		return alloc_large(bytes, MALLOC_ALIGN, true);
	void *block = qa_alloc_class_(size_class);
	return block ? memset(block, 0, bytes) : NULL;
}

void *qa_aligned_alloc(size_t align, size_t size)
{
	return qa_alloc_any_(size, align < MALLOC_ALIGN && align_is_valid(align) ? MALLOC_ALIGN : align);
}

/* what is for large_usable_size. */
static size_t usable_size(const void *block, const char *what)
{
	unsigned kind = page_map_kind(block);
	if (kind != QA_CLASS_NONE_ && kind != QA_CLASS_LARGE_)
		return size_classes[kind].usable;
	return large_usable_size(block, what);
}

size_t qa_usable_size(const void *block)
{
	return block ? usable_size(block, "asked for the size of what is not a block of libqa, or was freed") : 0;
}

/* Whether a block may stay where it is: it fits, wastes less than half, and is aligned as the malloc family's are. */
static bool can_stay(const void *block, size_t usable, size_t size)
{
	return size <= usable && size > usable / 2 && (uintptr_t)block % MALLOC_ALIGN == 0;
}

static void *realloc_by_copy(void *block, size_t usable, size_t size)
{
	void *moved = qa_malloc(size);
	if (!moved)
		return NULL;
	memcpy(moved, block, usable < size ? usable : size);
	qa_free(block);
	return moved;
}

void *qa_realloc(void *block, size_t size)
{
	if (!block)
		return qa_malloc(size);
	if (size == 0) {
		qa_free(block);
		return NULL;
	}
	size_t usable = usable_size(block, "realloc of what is not a block of libqa, or was freed");
	if (page_map_kind(block) == QA_CLASS_LARGE_) {
		if (size > SIZE_CLASS_MAX_BYTES)
			return large_realloc(block, size);
	} else if (can_stay(block, usable, size)) {
		return block;
	}
	return realloc_by_copy(block, usable, size);
}
