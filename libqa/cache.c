/*
 * What the inline fast paths call when a cache list is empty or full, or a drainer has the heap.
 *
 * A cache has two lists: the one that the fast paths use, and the spare, which is whole or not there. An empty list is
 * refilled by the spare, then by a batch on its way between threads, then from the shared pages; a full one becomes the
 * spare, and the spare before it leaves as a batch. So a thread that goes to and fro around a batch's edge stays within
 * its own two lists (the magazines of Bonwick and Adams, USENIX 2001).
 *
 * How many blocks a list may have grows from miss to miss, as long as the thread's bytes last; then a class that had
 * its turn earlier loses what it has (the idea of stealing between lists is tcmalloc's). So a thread that uses few
 * classes caches whole batches of them, and one that touches many does not pin memory in each.
 *
 * Batches on their way are taken and left inside the biased lock, so that whoever stops all heaps has stopped those too
 * (fork.c). The shared pages are asked outside of it, so that a drainer never waits for a lock or a page fault of the
 * owner's.
 */
#include "check.h"
#include "fatal.h"
#include "heap.h"
#include "init.h"
#include "large.h"
#include "shared.h"
#include "size_class.h"
#include "transfer.h"

enum { CAPACITY_FIRST = 8 };

/* What is to go to the shared pages after the owner left. */
struct surplus {
	unsigned size_class;
	struct heap_content content;
};

static void give_surplus(const struct surplus *surplus)
{
	heap_give(surplus->size_class, &surplus->content);
}

/* Inside: the capacity of the class whose turn it is goes back to the heap, and its blocks to their pages. */
static void evict_another(struct heap *heap, unsigned size_class, struct surplus *surplus)
{
	unsigned end = size_class_end();
	for (unsigned i = 1; i < end; i++) {
		unsigned victim = heap->next_victim = heap->next_victim + 1 < end ? heap->next_victim + 1 : 1;
		if (victim == size_class || heap->fast.caches[victim].capacity == 0)
			continue;
		surplus->size_class = victim;
		surplus->content = heap_take(heap, victim);
		heap_change_capacity(heap, victim, -heap->fast.caches[victim].capacity);
		return;
	}
}

static int32_t next_capacity(int32_t capacity, int32_t batch)
{
	int32_t next = capacity == 0 ? CAPACITY_FIRST : capacity * 2;
	return next < batch ? next : batch;
}

/* Inside, at a miss: doubles the list's capacity if the thread's bytes allow. */
static void grow(struct heap *heap, unsigned size_class, struct surplus *surplus)
{
	const struct size_class *c = &size_classes[size_class];
	int32_t capacity = heap->fast.caches[size_class].capacity;
	int32_t change = next_capacity(capacity, (int32_t)c->batch) - capacity;
	if (change <= 0)
		return;
	uint64_t bytes = (uint64_t)change * 2 * c->block_size, limit_bytes = heap_limit_bytes();
	if (heap->capacity_bytes + bytes > limit_bytes)
		evict_another(heap, size_class, surplus);
	if (heap->capacity_bytes + bytes <= limit_bytes)
		heap_change_capacity(heap, size_class, change);
}

/* Inside: makes a chain of count blocks the list, which is empty. */
static void list_install(struct heap *heap, unsigned size_class, void *chain, uint32_t count)
{
	heap->fast.caches[size_class].head = chain;
	heap_load(heap, size_class, (int32_t)count);
}

/* Inside: a batch on its way. It counts against the thread's bytes as a capacity does; one too large stays there. */
static void *take_batch(struct heap *heap, unsigned size_class, uint32_t *count, struct heap_content *left)
{
	void *chain = transfer_take(size_class, count);
	int32_t more = chain ? (int32_t)*count - heap->fast.caches[size_class].capacity : 0;
	if (more <= 0)
		return chain;
	uint64_t bytes = (uint64_t)more * 2 * size_classes[size_class].block_size;
	if (heap->capacity_bytes + bytes <= heap_limit_bytes()) {
		heap_change_capacity(heap, size_class, more);
		return chain;
	}
	if (!transfer_put(size_class, chain, *count))
		left->chains[0] = chain;
	return NULL;
}

/* Inside: fills the empty list from the spare or from a batch on its way. What no place was found for is left. */
static void list_refill(struct heap *heap, unsigned size_class, struct heap_content *left)
{
	struct heap_spare *spare = &heap->spares[size_class];
	void *chain = spare->chain;
	uint32_t count = atomic_load_explicit(&spare->blocks, memory_order_relaxed);
	if (chain) {
		spare->chain = NULL;
		atomic_store_explicit(&spare->blocks, 0, memory_order_relaxed);
	} else {
		chain = take_batch(heap, size_class, &count, left);
	}
	if (chain)
		list_install(heap, size_class, chain, count);
}

/* Inside: makes the full list the spare. A spare before it goes on its way, or is handed to the caller. */
static void list_retire(struct heap *heap, unsigned size_class, struct heap_content *left)
{
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	struct heap_spare *spare = &heap->spares[size_class];
	int32_t blocks = heap_list_blocks(heap, size_class);
	if (spare->chain &&
	    !transfer_put(size_class, spare->chain, atomic_load_explicit(&spare->blocks, memory_order_relaxed)))
		left->chains[0] = spare->chain;
	spare->chain = cache->head;
	atomic_store_explicit(&spare->blocks, (uint32_t)blocks, memory_order_relaxed);
	cache->head = NULL;
	heap_load(heap, size_class, -blocks);
}

/* Where no barrier is to be had, a trim asks and the owner does it here. */
static void flush_if_wanted(struct heap *heap)
{
	if (QA_LIKELY_(!atomic_load_explicit(&heap->is_flush_wanted, memory_order_relaxed)))
		return;
	atomic_store_explicit(&heap->is_flush_wanted, false, memory_order_relaxed);
	unsigned end = size_class_end();
	for (unsigned i = 1; i < end; i++) {
		if (!heap_enter(heap))
			return;
		struct heap_content content = heap_take(heap, i);
		heap_change_capacity(heap, i, -heap->fast.caches[i].capacity);
		heap_leave(heap);
		heap_give(i, &content);
	}
}

/*
 * Outside: a batch from the shared pages. Its first block goes to the program, the rest into the list, which is empty.
 */
static void *refill_from_pages(struct heap *heap, unsigned size_class, uint32_t most)
{
	uint32_t count;
	void *block = shared_take(size_class, most, &count);
	if (!block)
		return NULL;
	if (heap_enter(heap)) {
		list_install(heap, size_class, block, count);
		block = heap_pop(heap, size_class);
		heap_leave(heap);
	} else {
		void *rest = *(void **)block;
		shared_count_direct_alloc(size_class);
		shared_give(size_class, rest);
	}
	return block;
}

/* The thread has no heap, or a drainer has it. */
static __attribute__((noinline)) void *alloc_outside(unsigned size_class)
{
	/* Perhaps the first allocation of all: libqa starts here. */
	if (!heap_if_any() && init_ensure() && heap_current())
		return qa_alloc_slow_(size_class);
	return check_is_on ? check_alloc(size_class) : shared_take_direct(size_class);
}

void *qa_alloc_slow_(unsigned size_class)
{
	struct heap *heap = heap_current();
	if (!heap || !heap_enter(heap))
		return alloc_outside(size_class);
	struct surplus surplus = {0};
	struct heap_content left = {0};
	if (!heap->fast.caches[size_class].head)
		list_refill(heap, size_class, &left);
	void *block = heap_pop(heap, size_class);
	if (!block)
		grow(heap, size_class, &surplus);
	uint32_t capacity = (uint32_t)heap->fast.caches[size_class].capacity;
	heap_leave(heap);
	heap_give(size_class, &left);
	give_surplus(&surplus);
	if (!block)
		block = capacity > 0 ? refill_from_pages(heap, size_class, capacity) : shared_take_direct(size_class);
	flush_if_wanted(heap);
	return block;
}

void qa_dealloc_slow_(void *block, unsigned size_class)
{
	if (size_class == QA_CLASS_NONE_ || size_class == QA_CLASS_LARGE_) {
		if (block)
			large_free(block, "freed what is not a block of libqa, or was freed before");
		return;
	}
	struct heap *heap = heap_current();
	if (!heap || !heap_enter(heap)) {
		if (check_is_on)
			check_free(block, size_class);
		else
			shared_give_direct(size_class, block);
		return;
	}
	if (QA_UNLIKELY_(heap->fast.caches[size_class].head == block))
		fatal_block("freed twice", block, size_classes[size_class].block_size, UINT32_MAX);
	struct surplus surplus = {0};
	struct heap_content left = {0};
	bool is_pushed = heap_push(heap, size_class, block);
	if (!is_pushed) {
		grow(heap, size_class, &surplus);
		is_pushed = heap_push(heap, size_class, block);
	}
	if (!is_pushed && heap->fast.caches[size_class].head) {
		list_retire(heap, size_class, &left);
		is_pushed = heap_push(heap, size_class, block);
	}
	heap_leave(heap);
	if (!is_pushed)
		shared_give_direct(size_class, block);
	heap_give(size_class, &left);
	give_surplus(&surplus);
	flush_if_wanted(heap);
}
