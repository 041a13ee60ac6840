/*
 * The second names under which glibc exports its allocator. Other libraries that stand between a program and malloc
 * call these; their blocks come back through free, so they must be ours as well. They go through the plain names: what
 * stands before us there is meant.
 */
#include <malloc.h>
#include <stdlib.h>

#include "malloc/entry.h"

void *libc_malloc(size_t size) __asm__("__libc_malloc");
void *libc_calloc(size_t count, size_t size) __asm__("__libc_calloc");
void *libc_realloc(void *block, size_t size) __asm__("__libc_realloc");
void *libc_memalign(size_t align, size_t size) __asm__("__libc_memalign");
void *libc_valloc(size_t size) __asm__("__libc_valloc");
void *libc_pvalloc(size_t size) __asm__("__libc_pvalloc");
void libc_free(void *block) __asm__("__libc_free");
int libc_mallopt(int parameter, int value) __asm__("__libc_mallopt");
struct mallinfo libc_mallinfo(void) __asm__("__libc_mallinfo");
void cfree(void *block);

ENTRY void *libc_malloc(size_t size)
{
	return malloc(size);
}

ENTRY void *libc_calloc(size_t count, size_t size)
{
	return calloc(count, size);
}

ENTRY void *libc_realloc(void *block, size_t size)
{
	return realloc(block, size);
}

ENTRY void *libc_memalign(size_t align, size_t size)
{
	return memalign(align, size);
}

ENTRY void *libc_valloc(size_t size)
{
	return valloc(size);
}

ENTRY void *libc_pvalloc(size_t size)
{
	return pvalloc(size);
}

ENTRY void libc_free(void *block)
{
	free(block);
}

/* Of glibc before 2.26; old programs still call it. */
ENTRY void cfree(void *block)
{
	free(block);
}

ENTRY int libc_mallopt(int parameter, int value)
{
	return mallopt(parameter, value);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
ENTRY struct mallinfo libc_mallinfo(void)
{
	return mallinfo();
}
#pragma GCC diagnostic pop
