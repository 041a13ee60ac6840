/* malloc and free of whatever library is loaded. Compiled with -fno-builtin: the compiler may not remove pairs. */
#include "peer_trim.h"

#include <malloc.h>
#include <stdlib.h>

#define ADAPTER_ALLOC(size) malloc(size)
#define ADAPTER_FREE(block, size) free(block)

static inline void *adapter_alloc(size_t size)
{
	return malloc(size);
}

static inline void adapter_free(void *block, size_t size)
{
	(void)size;
	free(block);
}

static inline void *adapter_realloc(void *block, size_t old_size, size_t size)
{
	(void)old_size;
	return realloc(block, size);
}

static inline size_t adapter_usable_bytes(void *block)
{
	return malloc_usable_size(block);
}

static inline void adapter_trim(void)
{
	peer_trim();
}
