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

/* The second list of a cache: a full batch, so that a cache gives and gets whole batches without walking its list. */
struct heap_spare {
	void *chain;
	_Atomic uint32_t blocks; /* owner or drainer writes; statistics read */
	uint32_t
		want; /* blocks to ask the shared pages for at the next miss: doubles from miss to miss up to a batch */
};

struct heap {
	struct qa_heap_ fast; /* first: qa_heap_ points here */
	struct heap_spare spares[QA_CLASSES_];
	struct heap *next;      /* of all heaps; constant */
	struct heap *next_idle; /* of those without an owner; under the list's lock */
	atomic_bool has_owner;
	atomic_bool is_flush_wanted; /* no barrier here: the owner is asked to empty it at its next miss */
};

/* This thread's heap; makes or adopts one. NULL: no memory, or the thread is past its end: work without a cache. */
struct heap *heap_current(void);

/* Whether this thread has a heap already, without making one. */
struct heap *heap_if_any(void);

/* All heaps ever made, newest first. Any thread, no lock. */
struct heap *heap_first(void);

static inline bool heap_enter(struct heap *heap)
{
	__atomic_store_n(&heap->fast.busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (QA_LIKELY_(__atomic_load_n(&heap->fast.stop, __ATOMIC_ACQUIRE) == 0))
		return true;
	__atomic_store_n(&heap->fast.busy, 0u, __ATOMIC_RELEASE);
	return false;
}

static inline void heap_leave(struct heap *heap)
{
	__atomic_store_n(&heap->fast.busy, 0u, __ATOMIC_RELEASE);
}

/*
 * Keeps the owner out. False: the owner was inside at every look for a bounded time, or there is no barrier; nothing
 * changed. One drainer at a time (the caller holds trim's lock). Must be followed by heap_resume soon.
 */
bool heap_stop(struct heap *heap);
void heap_resume(struct heap *heap);

/* The lists of one heap, taken out of it: two chains a class. */
struct heap_content {
	void *chains[QA_CLASSES_][2];
	uint32_t counts[QA_CLASSES_][2];
};

/* Moves everything out of the lists. The caller is owner inside, or drainer. */
void heap_take_content(struct heap *heap, struct heap_content *content);

/* Gives what was taken to the shared pages. The caller need not own anything. */
void heap_give_content(const struct heap_content *content);

/* Blocks in the two lists of a class. Any thread, no lock; at most the operations in flight off, never more than fit.
 */
uint32_t heap_blocks(const struct heap *heap, unsigned size_class);

/* Once, at the first allocation: the thread-end hook. False: none is to be had, threads work without caches. */
bool heap_init(void);

/*
 * Around fork, see fork.c: the list's lock; and in the child, all heaps but the caller's lose their owner. Those that
 * were not stopped lose their content too: the kernel may have copied it half changed.
 */
void heap_lock(void);
void heap_unlock(void);
void heap_orphan_others(void);

#endif
