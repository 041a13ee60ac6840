/*
 * Heaps of threads. The list of all heaps only grows at its head. A thread gets its heap at its first miss, when
 * qa_heap_ still points to the shared empty heap, and gives it back in a pthread key's destructor; later calls of that
 * thread, from destructors that run after ours or from the C library itself, find the empty heap again and go to the
 * shared pages.
 */
#include "heap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"
#include "meta.h"
#include "options.h"
#include "os.h"
#include "shared.h"
#include "size_class.h"
#include "transfer.h"

enum { STOP_LOOKS = 200, STOP_SPINS = 100 };

/* What all threads together may cache, in caches of the full size; with more threads each gets less. */
enum { FULL_CACHES = 32 };

/*
 * Lists empty, and full: there is never room. Its busy words are written by threads without a heap and read by nobody;
 * so is room by those that try to free, hence so far below zero.
 */
enum { NEVER_ROOM = INT32_MIN / 2 };
static struct qa_heap_ empty_heap = {
	.caches = {[0 ... QA_CACHES_ - 1] = {.room = NEVER_ROOM}},
};
__thread struct qa_heap_ *qa_heap_ __attribute__((tls_model("initial-exec"))) = &empty_heap;

/* The thread's heap is gone for good. */
static __thread bool is_ended __attribute__((tls_model("initial-exec")));

static _Atomic(struct heap *) all_heaps;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct heap *idle_heaps;
static atomic_uint owners; /* heaps that have one */
static pthread_key_t end_key;
/* Written once, before any heap is made: cache_bytes, then whether there are heaps at all. */
static uint64_t cache_bytes;
static atomic_bool has_caches;

void heap_lock(void)
{
	pthread_mutex_lock(&list_lock);
}

void heap_unlock(void)
{
	pthread_mutex_unlock(&list_lock);
}

struct heap *heap_first(void)
{
	/* acquire: pairs with the release in heap_create */
	return atomic_load_explicit(&all_heaps, memory_order_acquire);
}

struct heap *heap_if_any(void)
{
	return qa_heap_ == &empty_heap ? NULL : (struct heap *)qa_heap_;
}

uint64_t heap_limit_bytes(void)
{
	unsigned threads = atomic_load_explicit(&owners, memory_order_relaxed);
	return threads <= FULL_CACHES ? cache_bytes : cache_bytes * FULL_CACHES / threads;
}

/* With the list's lock held. */
static struct heap *heap_create(void)
{
	struct heap *heap = meta_alloc(sizeof *heap);
	if (!heap)
		return NULL;
	heap->next = atomic_load_explicit(&all_heaps, memory_order_relaxed);
	/* release: pairs with the acquire in heap_first */
	atomic_store_explicit(&all_heaps, heap, memory_order_release);
	return heap;
}

static struct heap *heap_adopt(void)
{
	heap_lock();
	struct heap *heap = idle_heaps;
	if (heap)
		idle_heaps = heap->next_idle;
	else
		heap = heap_create();
	heap_unlock();
	if (!heap)
		return NULL;
	atomic_store_explicit(&heap->is_flush_wanted, false, memory_order_relaxed);
	atomic_store_explicit(&heap->has_owner, true, memory_order_relaxed);
	atomic_fetch_add_explicit(&owners, 1, memory_order_relaxed);
	return heap;
}

/* Waits for a drainer: its turn is a few hundred instructions. */
static void heap_enter_wait(struct heap *heap)
{
	while (!heap_enter(heap))
		sched_yield();
}

static void heap_abandon(struct heap *heap)
{
	qa_heap_ = &empty_heap;
	is_ended = true;
	unsigned end = size_class_end();
	for (unsigned i = 1; i < end; i++) {
		if (heap->fast.caches[i].capacity == 0 && heap_list_blocks(heap, i) == 0)
			continue;
		heap_enter_wait(heap);
		struct heap_content content = heap_take(heap, i);
		heap_change_capacity(heap, i, -heap->fast.caches[i].capacity);
		for (int list = 0; list < 2; list++)
			if (content.chains[list] && transfer_put(i, content.chains[list], content.counts[list]))
				content.chains[list] = NULL;
		heap_leave(heap);
		heap_give(i, &content);
	}
	atomic_fetch_sub_explicit(&owners, 1, memory_order_relaxed);
	atomic_store_explicit(&heap->has_owner, false, memory_order_relaxed);
	heap_lock();
	heap->next_idle = idle_heaps;
	idle_heaps = heap;
	heap_unlock();
}

static void thread_end(void *heap)
{
	int saved = errno;
	heap_abandon(heap);
	errno = saved;
}

void heap_init(void)
{
	cache_bytes = options_thread_cache_bytes();
	bool is_possible = cache_bytes > 0 && !check_is_on && pthread_key_create(&end_key, thread_end) == 0;
	/* release: pairs with the acquire in heap_current; the bytes and the key are seen */
	atomic_store_explicit(&has_caches, is_possible, memory_order_release);
}

struct heap *heap_current(void)
{
	struct heap *heap = heap_if_any();
	if (QA_LIKELY_(heap != NULL))
		return heap;
	if (is_ended || !atomic_load_explicit(&has_caches, memory_order_acquire))
		return NULL;
	int saved = errno;
	heap = heap_adopt();
	if (heap) {
		qa_heap_ = &heap->fast; /* first: pthread_setspecific may allocate */
		if (pthread_setspecific(end_key, heap) != 0) {
			heap_abandon(heap);
			heap = NULL;
		}
	}
	errno = saved;
	return heap;
}

/* After stop and the barrier: whether the owner is outside of all classes, within a bounded time. */
static bool await_owner(struct heap *heap)
{
	unsigned end = size_class_end(), looks = 0;
	for (unsigned i = 0; i < end; i++) {
		/* acquire: pairs with the owner's release of busy; its lists are seen whole */
		while (__atomic_load_n(&heap->fast.caches[i].busy, __ATOMIC_ACQUIRE) != 0) {
			if (++looks == STOP_LOOKS) {
				heap_resume(heap);
				return false;
			}
			if (looks > STOP_SPINS)
				sched_yield();
		}
	}
	return true;
}

bool heap_stop(struct heap *heap)
{
	if (!os_has_barrier())
		return false;
	__atomic_store_n(&heap->fast.caches[0].stop, 1u, __ATOMIC_SEQ_CST);
	if (os_barrier())
		return await_owner(heap);
	heap_resume(heap);
	return false;
}

void heap_stop_others(void)
{
	struct heap *own = heap_if_any(), *first = heap_first();
	if (!os_has_barrier() || !first || (first == own && !first->next))
		return;
	for (struct heap *heap = first; heap; heap = heap->next)
		if (heap != own)
			__atomic_store_n(&heap->fast.caches[0].stop, 1u, __ATOMIC_SEQ_CST);
	bool has_barrier = os_barrier();
	for (struct heap *heap = first; heap; heap = heap->next) {
		if (heap == own)
			continue;
		if (has_barrier)
			await_owner(heap);
		else
			heap_resume(heap);
	}
}

void heap_resume(struct heap *heap)
{
	/* release: pairs with the owner's acquire of stop; it sees the lists as the drainer left them */
	__atomic_store_n(&heap->fast.caches[0].stop, 0u, __ATOMIC_RELEASE);
}

uint32_t heap_blocks(const struct heap *heap, unsigned size_class)
{
	int32_t blocks = heap_list_blocks(heap, size_class), batch = (int32_t)size_classes[size_class].batch;
	if (blocks < 0) /* read between two writes */
		blocks = 0;
	if (blocks > batch)
		blocks = batch;
	return (uint32_t)blocks + atomic_load_explicit(&heap->spares[size_class].blocks, memory_order_relaxed);
}

struct heap_counts heap_counts(const struct heap *heap, unsigned size_class)
{
	const struct qa_cache_ *cache = &heap->fast.caches[size_class];
	struct heap_counts counts = {.allocs = __atomic_load_n(&cache->allocs, __ATOMIC_RELAXED)};
	int64_t frees = (int64_t)counts.allocs + heap_list_blocks(heap, size_class) -
			atomic_load_explicit(&heap->spares[size_class].loaded, memory_order_relaxed);
	counts.frees = frees < 0 || !QA_HAS_STATS_ ? 0 : (uint64_t)frees;
	return counts;
}

struct heap_content heap_take(struct heap *heap, unsigned size_class)
{
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	struct heap_spare *spare = &heap->spares[size_class];
	int32_t blocks = heap_list_blocks(heap, size_class);
	struct heap_content content = {
		.chains = {cache->head, spare->chain},
		.counts = {(uint32_t)blocks, atomic_load_explicit(&spare->blocks, memory_order_relaxed)},
	};
	cache->head = NULL;
	spare->chain = NULL;
	heap_load(heap, size_class, -blocks);
	atomic_store_explicit(&spare->blocks, 0, memory_order_relaxed);
	return content;
}

void heap_give(unsigned size_class, const struct heap_content *content)
{
	for (int list = 0; list < 2; list++)
		if (content->chains[list])
			shared_give(size_class, content->chains[list]);
}

void heap_change_capacity(struct heap *heap, unsigned size_class, int32_t change)
{
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	__atomic_store_n(&cache->capacity, cache->capacity + change, __ATOMIC_RELAXED);
	__atomic_store_n(&cache->room, cache->room + change, __ATOMIC_RELAXED);
	heap->capacity_bytes += (uint64_t)((int64_t)change * 2 * size_classes[size_class].block_size);
}

bool heap_orphan_others(void)
{
	bool all_stopped = true;
	struct heap *own = heap_if_any();
	unsigned end = size_class_end();
	idle_heaps = NULL;
	atomic_store_explicit(&owners, own ? 1 : 0, memory_order_relaxed);
	for (struct heap *heap = heap_first(); heap; heap = heap->next) {
		if (heap == own)
			continue;
		if (__atomic_load_n(&heap->fast.caches[0].stop, __ATOMIC_RELAXED) == 0) {
			all_stopped = false;
			for (unsigned i = 1; i < end; i++)
				heap_take(heap, i);
		}
		for (unsigned i = 0; i < end; i++)
			__atomic_store_n(&heap->fast.caches[i].busy, 0u, __ATOMIC_RELAXED);
		atomic_store_explicit(&heap->has_owner, false, memory_order_relaxed);
		heap->next_idle = idle_heaps;
		idle_heaps = heap;
	}
	return all_stopped;
}
