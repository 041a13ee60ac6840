/* libqa's sized family, as a typed allocator uses it: the alignment is that of a word. */
#include "qa.h"

#define ADAPTER_ALIGN 8

#define ADAPTER_ALLOC(size) qa_alloc(size, ADAPTER_ALIGN)
#define ADAPTER_FREE(block, size) qa_dealloc(block, size, ADAPTER_ALIGN)

static inline void *adapter_alloc(size_t size)
{
	return qa_alloc(size, ADAPTER_ALIGN);
}

static inline void adapter_free(void *block, size_t size)
{
	qa_dealloc(block, size, ADAPTER_ALIGN);
}

/* The sized family has no realloc; a block of either family may be given to qa_realloc, and then to qa_free. */
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
