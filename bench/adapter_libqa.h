/* libqa's malloc family. */
#include "qa.h"

#define ADAPTER_ALLOC(size) qa_malloc(size)
#define ADAPTER_FREE(block, size) qa_free(block)

static inline void *adapter_alloc(size_t size)
{
	return qa_malloc(size);
}

static inline void adapter_free(void *block, size_t size)
{
	(void)size;
	qa_free(block);
}

static inline void *adapter_realloc(void *block, size_t old_size, size_t size)
{
	(void)old_size;
	return qa_realloc(block, size);
}

static inline size_t adapter_usable_bytes(void *block)
{
	return qa_usable_size(block);
}

static inline void adapter_trim(void)
{
	qa_trim(NULL, NULL);
}
