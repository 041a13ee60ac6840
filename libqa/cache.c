/*
 * What the inline fast paths call when a cache list is empty or full, or a drainer has the heap.
 *
 * A cache has two lists of at most a batch: the one that the fast paths use, and the spare, which is whole or not
 * there. An empty list is refilled by the spare, then by a batch on its way between threads, then from the shared
 * pages; a full one becomes the spare, and the spare before it leaves as a batch. So a thread that goes to and fro
 * around a batch's edge stays within its own two lists (the magazines of Bonwick and Adams, USENIX 2001).
 *
 * Batches on their way are taken and left inside the biased lock, so that whoever stops all heaps has stopped those too
 * (fork.c). The shared pages are asked outside of it, so that a drainer never waits for a lock or a page fault of the
 * owner's.
 */
#include "heap.h"
#include "shared.h"
#include "transfer.h"

static void count_alloc(struct qa_cache_ *cache)
{
	__atomic_store_n(&cache->allocs, cache->allocs + 1, __ATOMIC_RELAXED);
}

static void change_room(struct qa_cache_ *cache, int64_t change)
{
	__atomic_store_n(&cache->room, cache->room + change, __ATOMIC_RELAXED);
}

/* Inside: makes a chain of count blocks the list, which is empty. */
static void list_install(struct qa_cache_ *cache, void *chain, uint32_t count)
{
	cache->head = chain;
	change_room(cache, -(int64_t)count);
}

/* Inside: fills the empty list from the spare or from a batch on its way. */
static void list_refill(struct heap *heap, unsigned size_class)
{
	struct heap_spare *spare = &heap->spares[size_class];
	void *chain = spare->chain;
	uint32_t count = atomic_load_explicit(&spare->blocks, memory_order_relaxed);
	if (chain) {
		spare->chain = NULL;
		atomic_store_explicit(&spare->blocks, 0, memory_order_relaxed);
	} else {
		chain = transfer_take(size_class, &count);
	}
	if (chain)
		list_install(&heap->fast.caches[size_class], chain, count);
}

/* Inside: a block, or NULL. */
static void *list_pop(struct qa_cache_ *cache)
{
	void *block = cache->head;
	if (block) {
		cache->head = *(void **)block;
		count_alloc(cache);
	}
	return block;
}

/* Inside: makes the full list the spare. A spare before it goes on its way; if it can not, it is the caller's. */
static void *list_retire(struct heap *heap, unsigned size_class)
{
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	struct heap_spare *spare = &heap->spares[size_class];
	void *surplus = spare->chain;
	if (surplus && transfer_put(size_class, surplus, atomic_load_explicit(&spare->blocks, memory_order_relaxed)))
		surplus = NULL;
	uint32_t batch = size_classes[size_class].batch;
	spare->chain = cache->head;
	atomic_store_explicit(&spare->blocks, batch, memory_order_relaxed);
	cache->head = NULL;
	change_room(cache, batch);
	return surplus;
}

/* Where no barrier is to be had, a trim asks and the owner does it here. */
static void flush_if_wanted(struct heap *heap)
{
	struct heap_content content;
	if (QA_LIKELY_(!atomic_load_explicit(&heap->is_flush_wanted, memory_order_relaxed)) || !heap_enter(heap))
		return;
	atomic_store_explicit(&heap->is_flush_wanted, false, memory_order_relaxed);
	heap_take_content(heap, &content);
	heap_leave(heap);
	heap_give_content(&content);
}

/* Outside: a batch from the shared pages. Its first block goes to the program, the rest into the list, which is empty.
 */
static void *refill_from_pages(struct heap *heap, unsigned size_class)
{
	struct heap_spare *spare = &heap->spares[size_class];
	uint32_t batch = size_classes[size_class].batch, want = spare->want, count;
	spare->want = want * 2 < batch ? want * 2 : batch;
	void *block = shared_take(size_class, want, &count);
	if (!block)
		return NULL;
	if (heap_enter(heap)) {
		struct qa_cache_ *cache = &heap->fast.caches[size_class];
		list_install(cache, block, count);
		block = list_pop(cache);
		heap_leave(heap);
	} else {
		void *rest = *(void **)block;
		shared_count_direct_alloc(size_class);
		shared_give(size_class, rest);
	}
	return block;
}

void *qa_alloc_slow_(unsigned size_class)
{
	struct heap *heap = heap_current();
	if (!heap || !heap_enter(heap))
		return shared_take_direct(size_class);
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	if (!cache->head)
		list_refill(heap, size_class);
	void *block = list_pop(cache);
	heap_leave(heap);
	if (!block)
		block = refill_from_pages(heap, size_class);
	flush_if_wanted(heap);
	return block;
}

void qa_dealloc_slow_(void *block, unsigned size_class)
{
	struct heap *heap = heap_current();
	if (!heap || !heap_enter(heap)) {
		shared_give_direct(size_class, block);
		return;
	}
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	void *surplus = NULL;
	if ((int64_t)(cache->frees - cache->allocs) >= cache->room)
		surplus = list_retire(heap, size_class);
	*(void **)block = cache->head;
	cache->head = block;
	__atomic_store_n(&cache->frees, cache->frees + 1, __ATOMIC_RELAXED);
	heap_leave(heap);
	if (surplus)
		shared_give(size_class, surplus);
	flush_if_wanted(heap);
}
