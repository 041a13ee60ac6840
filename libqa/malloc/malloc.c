/*
 * The calls that programs make most. Their fast paths are compiled in here, so that a malloc is one call from the
 * program to this library and no second one from here to libqa.so: the thread's heap, the class of a size and the
 * window of the page map are all that they need. Everything else is libqa.so's, which is loaded beside; so there is one
 * heap and one agent in whatever order the two come, and also when the program itself is linked to libqa.so.
 *
 * A free that is told the size looks the address up all the same: the size of a block that realloc left in place, or
 * that came from an operator new of the program's own, does not tell its class.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "malloc/entry.h"
#include "malloc/window.h"
#include "qa.h"
#include "size_class.h"

/* Above the table. */
static __attribute__((noinline)) void *alloc_bigger(size_t size)
{
	return size <= SIZE_CLASS_MAX_BYTES ? qa_alloc_class_(qa_class_of_(size)) : qa_malloc(size);
}

ENTRY void *malloc(size_t size)
{
	if (QA_UNLIKELY_(size > SIZE_CLASS_TABLE_BYTES))
		return alloc_bigger(size);
	return qa_alloc_class_(size_class_table[(size + 15) / 16]);
}

ENTRY void free(void *block)
{
	uintptr_t unit = window_unit(block);
	if (QA_LIKELY_(unit < PAGE_MAP_WINDOW_UNITS))
		qa_dealloc_class_(block, window_kind(unit));
	else
		qa_free(block);
}

ENTRY void *calloc(size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (QA_UNLIKELY_(bytes > SIZE_CLASS_TABLE_BYTES))
		return qa_calloc(1, bytes);
	void *block = qa_alloc_class_(size_class_table[(bytes + 15) / 16]);
	return block ? memset(block, 0, bytes) : NULL;
}

ENTRY void *realloc(void *block, size_t size)
{
	return qa_realloc(block, size);
}

ENTRY void *reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return qa_realloc(block, bytes);
}

/* C23; no header of glibc 2.36 has them. */
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t align, size_t size);

ENTRY void free_sized(void *block, size_t size)
{
	(void)size;
	free(block);
}

ENTRY void free_aligned_sized(void *block, size_t align, size_t size)
{
	(void)align;
	(void)size;
	free(block);
}

ENTRY size_t malloc_usable_size(void *block)
{
	return qa_usable_size(block);
}
