/*
 * The calls that programs make most. Their fast paths are compiled in here (fast.h), so that a malloc is one call from
 * the program to this library and no second one from here to libqa.so: the thread's heap, the class of a size and the
 * window of the page map are all that they need. Everything else is libqa.so's, which is loaded beside; so there is one
 * heap and one agent in whatever order the two come, and also when the program itself is linked to libqa.so.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "malloc/entry.h"
#include "malloc/fast.h"

void *fast_malloc_bigger(size_t size)
{
	return size <= SIZE_CLASS_MAX_BYTES ? qa_alloc_class_(qa_class_of_(size)) : qa_malloc(size);
}

HOT void *own_malloc(size_t size)
{
	return fast_malloc(size);
}

HOT void own_free(void *block)
{
	fast_free(block);
}

extern ENTRY void *malloc(size_t size) __attribute__((alias("own_malloc")));
extern ENTRY void free(void *block) __attribute__((alias("own_free")));

HOT ENTRY void *calloc(size_t count, size_t size)
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
