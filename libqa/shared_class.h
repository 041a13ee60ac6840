/*
 * shared_class.h - one class's shared pages from inside: for shared.c, and for the walk that looks for holes
 * (shared_walk.c).
 */
#ifndef LIBQA_SHARED_CLASS_H
#define LIBQA_SHARED_CLASS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "page.h"
#include "page_heap.h"
#include "size_class.h"

struct shared {
	pthread_mutex_t lock;
	bool is_closed;          /* a fork is near: wait at the gate; under the lock */
	struct page_heap pages;  /* that have a block out and a free one */
	struct page *holed;      /* that have a block out, and others only in holes: linked by next and prev */
	struct page *kept;       /* empty, or NULL */
	uint32_t fullness_shift; /* used >> this is a page's fullness, at most 8 */
	atomic_uint sequence;
	_Atomic uint64_t held_pages, kept_pages, covered_blocks, out_blocks, hole_blocks, hole_bytes;
	_Atomic uint64_t direct_allocs, direct_frees;
} __attribute__((aligned(128)));

/* The class, locked, its counts open for change; waits while a fork is near. */
struct shared *shared_lock(unsigned size_class);
void shared_unlock(struct shared *s);

/* Only the holder of the lock writes: no read-modify-write is needed. */
static inline void shared_add(_Atomic uint64_t *counter, uint64_t change)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + change,
			      memory_order_relaxed);
}

static inline void shared_subtract(_Atomic uint64_t *counter, uint64_t change)
{
	shared_add(counter, (uint64_t)0 - change);
}

/* The rest with the lock held. A page leaves the list it is in; one in no list goes where it belongs by what it has. */
void shared_leave(struct shared *s, struct page *page);
void shared_place(struct shared *s, struct page *page, const struct size_class *c);

/* A page in no list has no block out any more. */
void shared_became_empty(struct shared *s, struct page *page, const struct size_class *c);

#endif
