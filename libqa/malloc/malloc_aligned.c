/*
 * Aligned blocks, as glibc 2.36 gives them: memalign and aligned_alloc take an alignment of 16 or less for none and
 * round one that is no power of two up (newer glibc has aligned_alloc fail with EINVAL there); posix_memalign is
 * strict.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "align.h"
#include "malloc/entry.h"
#include "qa.h"

enum { MALLOC_ALIGN = 16 };

static void *alloc_aligned(size_t align, size_t size)
{
	if (align <= MALLOC_ALIGN)
		return malloc(size);
	if (align > SIZE_MAX / 2 + 1) {
		errno = EINVAL;
		return NULL;
	}
	size_t power = MALLOC_ALIGN * 2;
	while (power < align)
		power *= 2;
	return qa_aligned_alloc(power, size);
}

ENTRY void *memalign(size_t align, size_t size)
{
	return alloc_aligned(align, size);
}

ENTRY void *aligned_alloc(size_t align, size_t size)
{
	return alloc_aligned(align, size);
}

ENTRY int posix_memalign(void **block, size_t align, size_t size)
{
	if (!align_is_valid(align) || align % sizeof(void *) != 0)
		return EINVAL;
	void *made = alloc_aligned(align, size);
	if (!made)
		return ENOMEM;
	*block = made;
	return 0;
}

static size_t os_page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

ENTRY void *valloc(size_t size)
{
	return alloc_aligned(os_page(), size);
}

ENTRY void *pvalloc(size_t size)
{
	size_t page = os_page(), bytes;
	if (__builtin_add_overflow(size, page - 1, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return alloc_aligned(page, bytes & ~(page - 1));
}
