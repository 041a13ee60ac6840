/*
 * What cannot be undercut: a thread-local list of free blocks per size, with no counter, no limit and no thought of
 * other threads. Blocks come from runs that are never given back.
 */
#include <stdlib.h>

#define FLOOR_RUN_BYTES (1u << 20)
#define FLOOR_SIZES 64

struct floor_block {
	struct floor_block *next;
};

static __thread struct floor_block *floor_free[FLOOR_SIZES]; /* by size / 8; the index is a constant */

static __attribute__((noinline, cold)) struct floor_block *floor_refill(size_t size)
{
	char *run = (char *)malloc(FLOOR_RUN_BYTES);
	if (!run)
		abort();
	struct floor_block *first = NULL;
	for (size_t i = FLOOR_RUN_BYTES / size; i-- > 0;) {
		struct floor_block *block = (struct floor_block *)(run + i * size);
		block->next = first;
		first = block;
	}
	return first;
}

static inline __attribute__((always_inline)) void *floor_alloc(size_t size)
{
	struct floor_block *block = floor_free[size / 8];
	if (__builtin_expect(!block, 0))
		block = floor_refill(size);
	floor_free[size / 8] = block->next;
	return block;
}

static inline __attribute__((always_inline)) void floor_dealloc(void *memory, size_t size)
{
	struct floor_block *block = (struct floor_block *)memory;
	block->next = floor_free[size / 8];
	floor_free[size / 8] = block;
}

#define ADAPTER_ALLOC(size) floor_alloc(size)
#define ADAPTER_FREE(block, size) floor_dealloc(block, size)
