/*
 * heap.h - the threads' heaps: who owns them, and how another thread empties one.
 *
 * A heap belongs to one thread at a time; when the thread ends its blocks go back and another thread may get it. Heaps
 * are never freed, so that statistics walk their list without a lock. The biased lock (qa_inline.h) says who may touch
 * the lists:
 *
 *   the owner, between heap_enter and heap_leave;  or a drainer, between heap_stop and heap_resume.
 *
 * heap_enter fails while a drainer is at work: the owner then goes to the shared pages and waits for nobody.
 */
#ifndef LIBQA_HEAP_H
#define LIBQA_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "qa.h"

/*
 * The colder half of a cache: its second list, whole or not there, so that a cache gives and gets batches without
 * walking its list. Touched by the owner inside or a drainer; all but the chain is read by the statistics.
 *
 *   bytes that a class may have cached here = 2 * capacity * block size;   capacity_bytes of the heap = their sum
 *   frees = allocs + blocks in the (first) list - loaded
 */
struct heap_spare {
	void *chain;
	_Atomic uint32_t blocks;
	_Atomic int64_t loaded; /* blocks that came into the first list in batches less those that left so */
};

struct heap {
	struct qa_heap_ fast; /* first: qa_heap_ points here */
	struct heap_spare spares[QA_CACHES_];
	uint64_t capacity_bytes;
	unsigned next_victim;   /* which class's capacity goes to another next, round and round */
	struct heap *next;      /* of all heaps; constant */
	struct heap *next_idle; /* of those without an owner; under the list's lock */
	atomic_bool has_owner;
	atomic_bool is_flush_wanted; /* no barrier here: the owner is asked to empty it at its next miss */
};

/*
 * This thread's heap; makes or adopts one. NULL: no memory, no caches wanted, the thread is past its end, or libqa has
 * not started (init.h).
 */
struct heap *heap_current(void);

/* Whether this thread has a heap already, without making one. */
struct heap *heap_if_any(void);

/* All heaps ever made, newest first. Any thread, no lock. */
struct heap *heap_first(void);

/* How many bytes one thread may cache now: the setting, or its share of the total when there are many threads. */
uint64_t heap_limit_bytes(void);

/* The owner goes inside for the whole heap: the busy word of class 0, which has no list, stands for it. */
static inline bool heap_enter(struct heap *heap)
{
	uint32_t *busy = &heap->fast.caches[0].busy;
	__atomic_store_n(busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (QA_LIKELY_(__atomic_load_n(&heap->fast.caches[0].stop, __ATOMIC_ACQUIRE) == 0))
		return true;
	__atomic_store_n(busy, 0u, __ATOMIC_RELEASE);
	return false;
}

static inline void heap_leave(struct heap *heap)
{
	__atomic_store_n(&heap->fast.caches[0].busy, 0u, __ATOMIC_RELEASE);
}

/*
 * Keeps the owner out. False: the owner was inside at every look for a bounded time, or there is no barrier; nothing
 * changed. One drainer at a time (the caller holds trim's lock). Must be followed by heap_resume soon.
 */
bool heap_stop(struct heap *heap);
void heap_resume(struct heap *heap);

/* As heap_stop for all heaps but the caller's, with one barrier. Those that can not be stopped have stop 0 after. */
void heap_stop_others(void);

/* The lists of one class, taken out of a heap. Either may be NULL. */
struct heap_content {
	void *chains[2];
	uint32_t counts[2];
};

/* Moves everything of a class out of the lists. The caller is owner inside, or drainer. */
struct heap_content heap_take(struct heap *heap, unsigned size_class);

/* Gives what was taken to the shared pages. The caller need not own anything. */
void heap_give(unsigned size_class, const struct heap_content *content);

/* Changes the list's capacity by that many blocks, within the class's batch. Owner inside, or drainer. */
void heap_change_capacity(struct heap *heap, unsigned size_class, int32_t change);

/* Blocks in the list that the fast paths use. Exact for owner inside or drainer. */
static inline int32_t heap_list_blocks(const struct heap *heap, unsigned size_class)
{
	const struct qa_cache_ *cache = &heap->fast.caches[size_class];
	return __atomic_load_n(&cache->capacity, __ATOMIC_RELAXED) - __atomic_load_n(&cache->room, __ATOMIC_RELAXED);
}

/* Counts blocks that came into the list as a batch (or, negative, left so). Owner inside, or drainer. */
static inline void heap_load(struct heap *heap, unsigned size_class, int32_t blocks)
{
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	__atomic_store_n(&cache->room, cache->room - blocks, __ATOMIC_RELAXED);
	_Atomic int64_t *loaded = &heap->spares[size_class].loaded;
	atomic_store_explicit(loaded, atomic_load_explicit(loaded, memory_order_relaxed) + blocks,
			      memory_order_relaxed);
}

/* The same of one block from or to the program. Owner inside. */
static inline void *heap_pop(struct heap *heap, unsigned size_class)
{
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	void *block = cache->head;
	if (block) {
		cache->head = *(void **)block;
		qa_give_room_(&cache->room);
		QA_COUNT_(&cache->allocs);
	}
	return block;
}

static inline bool heap_push(struct heap *heap, unsigned size_class, void *block)
{
	struct qa_cache_ *cache = &heap->fast.caches[size_class];
	if (!qa_take_room_(&cache->room))
		return false;
	*(void **)block = cache->head;
	cache->head = block;
	return true;
}

/* Allocations and frees by owners of this heap so far. Any thread. */
struct heap_counts {
	uint64_t allocs, frees;
};

struct heap_counts heap_counts(const struct heap *heap, unsigned size_class);

/* Blocks in list and spare. Any thread, no lock; at most the operations in flight off, never more than fit. */
uint32_t heap_blocks(const struct heap *heap, unsigned size_class);

/* Once, at the first allocation: the thread-end hook. Without one, threads work without caches. */
void heap_init(void);

/*
 * Around fork, see fork.c: the list's lock; and in the child, all heaps but the caller's lose their owner. Those that
 * were not stopped lose their content too, and false is returned: the kernel may have copied it half changed.
 */
void heap_lock(void);
void heap_unlock(void);
bool heap_orphan_others(void);

#endif
