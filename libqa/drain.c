/*
 * A heap is stopped only while some of its lists are unhooked, some hundred instructions; the blocks are given to their
 * pages after its owner may go on.
 */
#include "drain.h"

#include <stdatomic.h>

#include "check.h"
#include "heap.h"
#include "os.h"
#include "shared.h"
#include "size_class.h"
#include "transfer.h"

enum { PASSES = 3, CLASSES_AT_ONCE = 64 };

static bool enter(struct heap *heap)
{
	return heap == heap_if_any() ? heap_enter(heap) : heap_stop(heap);
}

static void leave(struct heap *heap)
{
	if (heap == heap_if_any())
		heap_leave(heap);
	else
		heap_resume(heap);
}

/* A few classes at each turn, so that the owner is kept out for some hundred instructions only. */
static bool drain_heap(struct heap *heap)
{
	unsigned end = size_class_end();
	for (unsigned first = 1; first < end; first += CLASSES_AT_ONCE) {
		struct heap_content contents[CLASSES_AT_ONCE];
		unsigned count = end - first < CLASSES_AT_ONCE ? end - first : CLASSES_AT_ONCE;
		if (!enter(heap))
			return false;
		for (unsigned i = 0; i < count; i++)
			contents[i] = heap_take(heap, first + i);
		leave(heap);
		for (unsigned i = 0; i < count; i++)
			heap_give(first + i, &contents[i]);
	}
	return true;
}

static bool has_blocks(const struct heap *heap)
{
	unsigned end = size_class_end();
	for (unsigned i = 1; i < end; i++)
		if (heap_blocks(heap, i) > 0)
			return true;
	return false;
}

/* No barrier: owners are asked, see cache.c. */
static void ask_for_flush(void)
{
	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		atomic_store_explicit(&heap->is_flush_wanted, true, memory_order_relaxed);
}

/* Goes round again for those whose owner was inside. Returns how many were left. */
uint64_t drain_heaps(void)
{
	uint64_t skipped = 0;
	for (int pass = 0; pass < PASSES; pass++) {
		skipped = 0;
		for (struct heap *heap = heap_first(); heap; heap = heap->next)
			if (has_blocks(heap) && !drain_heap(heap))
				skipped++;
		if (skipped == 0)
			break;
	}
	if (!os_has_barrier())
		ask_for_flush();
	return skipped;
}

static void drain_transfers_of(unsigned size_class)
{
	uint32_t count;
	for (void *chain; (chain = transfer_take(size_class, &count)) != NULL;)
		shared_give(size_class, chain);
}

void drain_transfers(void)
{
	unsigned end = size_class_end();
	for (unsigned i = 1; i < end; i++)
		drain_transfers_of(i);
	check_flush();
}

static bool drain_class_of(struct heap *heap, unsigned size_class, bool is_over)
{
	const struct qa_cache_ *cache = &heap->fast.caches[size_class];
	bool has_capacity = __atomic_load_n(&cache->capacity, __ATOMIC_RELAXED) != 0;
	if (!(is_over && has_capacity) && heap_blocks(heap, size_class) == 0)
		return true;
	if (!enter(heap))
		return false;
	struct heap_content content = heap_take(heap, size_class);
	if (is_over)
		heap_change_capacity(heap, size_class, -cache->capacity);
	leave(heap);
	heap_give(size_class, &content);
	return true;
}

uint64_t drain_class(unsigned size_class, bool is_over)
{
	uint64_t skipped = 1;
	for (int pass = 0; pass < PASSES && skipped > 0; pass++) {
		skipped = 0;
		for (struct heap *heap = heap_first(); heap; heap = heap->next)
			skipped += !drain_class_of(heap, size_class, is_over);
	}
	if (skipped > 0 && !os_has_barrier())
		ask_for_flush();
	drain_transfers_of(size_class);
	check_flush();
	return skipped;
}
