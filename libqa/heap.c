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
#include <string.h>

#include "init.h"
#include "meta.h"
#include "os.h"
#include "shared.h"
#include "size_class.h"
#include "transfer.h"

enum { WANT_FIRST = 8, STOP_LOOKS = 200, STOP_SPINS = 100 };

/* Lists empty, and full: frees - allocs may not exceed room = 0. Its busy word is written by threads without a heap and
 * read by nobody. */
static struct qa_heap_ empty_heap;
__thread struct qa_heap_ *qa_heap_ __attribute__((tls_model("initial-exec"))) = &empty_heap;

/* The thread's heap is gone for good. */
static __thread bool is_ended __attribute__((tls_model("initial-exec")));

static _Atomic(struct heap *) all_heaps;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct heap *idle_heaps;
static pthread_key_t end_key;
static bool has_end_key;

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

static struct heap *heap_create(void)
{
	struct heap *heap = meta_alloc(sizeof *heap);
	if (!heap)
		return NULL;
	for (unsigned i = 0; i < QA_CLASSES_; i++)
		heap->fast.caches[i].room = size_classes[i].batch;
	return heap;
}

/* With the list's lock held. */
static void heap_publish(struct heap *heap)
{
	heap->next = atomic_load_explicit(&all_heaps, memory_order_relaxed);
	atomic_store_explicit(&all_heaps, heap, memory_order_release);
}

static struct heap *heap_adopt(void)
{
	heap_lock();
	struct heap *heap = idle_heaps;
	if (heap)
		idle_heaps = heap->next_idle;
	else if ((heap = heap_create()) != NULL)
		heap_publish(heap);
	heap_unlock();
	if (!heap)
		return NULL;
	for (unsigned i = 0; i < QA_CLASSES_; i++)
		heap->spares[i].want = WANT_FIRST < size_classes[i].batch ? WANT_FIRST : size_classes[i].batch;
	atomic_store_explicit(&heap->is_flush_wanted, false, memory_order_relaxed);
	atomic_store_explicit(&heap->has_owner, true, memory_order_relaxed);
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
	struct heap_content content;
	qa_heap_ = &empty_heap;
	is_ended = true;
	heap_enter_wait(heap);
	heap_take_content(heap, &content);
	for (unsigned i = 0; i < QA_CLASSES_; i++)
		for (int list = 0; list < 2; list++)
			if (content.chains[i][list] &&
			    transfer_put(i, content.chains[i][list], content.counts[i][list]))
				content.chains[i][list] = NULL;
	heap_leave(heap);
	heap_give_content(&content);
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

bool heap_init(void)
{
	has_end_key = pthread_key_create(&end_key, thread_end) == 0;
	return has_end_key;
}

struct heap *heap_current(void)
{
	struct heap *heap = heap_if_any();
	if (QA_LIKELY_(heap != NULL))
		return heap;
	if (is_ended || !init_ensure() || !has_end_key)
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

bool heap_stop(struct heap *heap)
{
	if (!os_has_barrier())
		return false;
	__atomic_store_n(&heap->fast.stop, 1u, __ATOMIC_SEQ_CST);
	if (os_barrier()) {
		for (int look = 0; look < STOP_LOOKS; look++) {
			/* acquire: pairs with the owner's release of busy; its lists are seen whole */
			if (__atomic_load_n(&heap->fast.busy, __ATOMIC_ACQUIRE) == 0)
				return true;
			if (look > STOP_SPINS)
				sched_yield();
		}
	}
	heap_resume(heap);
	return false;
}

void heap_resume(struct heap *heap)
{
	/* release: pairs with the owner's acquire of stop; it sees the lists as the drainer left them */
	__atomic_store_n(&heap->fast.stop, 0u, __ATOMIC_RELEASE);
}

static uint32_t list_blocks(const struct qa_cache_ *cache, uint32_t batch, uint64_t allocs)
{
	int64_t room = __atomic_load_n(&cache->room, __ATOMIC_RELAXED);
	uint64_t frees = __atomic_load_n(&cache->frees, __ATOMIC_RELAXED);
	int64_t blocks = (int64_t)batch - room + (int64_t)(frees - allocs);
	return blocks < 0 ? 0 : blocks > batch ? batch : (uint32_t)blocks;
}

uint32_t heap_blocks(const struct heap *heap, unsigned size_class)
{
	const struct qa_cache_ *cache = &heap->fast.caches[size_class];
	uint32_t batch = size_classes[size_class].batch, blocks = 0;
	for (int tries = 0; tries < 8; tries++) { /* the reader may be preempted between two counters */
		uint64_t allocs = __atomic_load_n(&cache->allocs, __ATOMIC_RELAXED);
		blocks = list_blocks(cache, batch, allocs) +
			 atomic_load_explicit(&heap->spares[size_class].blocks, memory_order_relaxed);
		if (__atomic_load_n(&cache->allocs, __ATOMIC_RELAXED) - allocs < 16)
			break;
	}
	return blocks;
}

void heap_take_content(struct heap *heap, struct heap_content *content)
{
	for (unsigned i = 0; i < QA_CLASSES_; i++) {
		struct qa_cache_ *cache = &heap->fast.caches[i];
		struct heap_spare *spare = &heap->spares[i];
		content->chains[i][0] = cache->head;
		content->counts[i][0] = list_blocks(cache, size_classes[i].batch, cache->allocs);
		content->chains[i][1] = spare->chain;
		content->counts[i][1] = atomic_load_explicit(&spare->blocks, memory_order_relaxed);
		cache->head = NULL;
		spare->chain = NULL;
		/* blocks = batch - room + frees - allocs = 0 */
		__atomic_store_n(&cache->room, (int64_t)size_classes[i].batch + (int64_t)(cache->frees - cache->allocs),
				 __ATOMIC_RELAXED);
		atomic_store_explicit(&spare->blocks, 0, memory_order_relaxed);
	}
}

void heap_give_content(const struct heap_content *content)
{
	for (unsigned i = 0; i < QA_CLASSES_; i++)
		for (int list = 0; list < 2; list++)
			if (content->chains[i][list])
				shared_give(i, content->chains[i][list]);
}

void heap_orphan_others(void)
{
	struct heap *own = heap_if_any();
	struct heap_content lost;
	idle_heaps = NULL;
	for (struct heap *heap = heap_first(); heap; heap = heap->next) {
		if (heap == own)
			continue;
		if (__atomic_load_n(&heap->fast.stop, __ATOMIC_RELAXED) == 0)
			heap_take_content(heap, &lost);
		__atomic_store_n(&heap->fast.busy, 0u, __ATOMIC_RELAXED);
		atomic_store_explicit(&heap->has_owner, false, memory_order_relaxed);
		heap->next_idle = idle_heaps;
		idle_heaps = heap;
	}
}
