/*
 * Blocks are taken from the fullest page (page_heap.h), first those that came back, then fresh ones in address order. A
 * class keeps one page that has become empty, so that a program at the edge of a page does not move one to and fro;
 * further ones go to the space, where every class may have them and a trim finds them.
 *
 * The counts are written under the class's lock, between two steps of a sequence number that is odd meanwhile (a
 * seqlock); a reader that saw the same even number before and after has values that belong together. A writer may be
 * preempted in between, so a reader gives up after some tries, and takes what it read: off by the one operation in
 * flight.
 */
#include "shared.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "fatal.h"
#include "page_heap.h"
#include "page_map.h"
#include "space.h"

struct shared {
	pthread_mutex_t lock;
	struct page_heap pages;  /* that have a block out and a free one */
	struct page *kept;       /* empty, or NULL */
	uint32_t fullness_shift; /* used >> this is a page's fullness, at most 8 */
	atomic_uint sequence;
	_Atomic uint64_t held_pages, kept_pages, covered_blocks, out_blocks, direct_allocs, direct_frees;
} __attribute__((aligned(128)));

static struct shared classes[QA_CLASSES_] = {[0 ... QA_CLASSES_ - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

void shared_init(void)
{
	for (unsigned i = 0; i < QA_CLASSES_; i++)
		while (size_classes[i].page_blocks >> classes[i].fullness_shift > 8)
			classes[i].fullness_shift++;
}

/* Only the holder of the lock writes: no read-modify-write is needed. */
static void add(_Atomic uint64_t *counter, uint64_t change)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + change,
			      memory_order_relaxed);
}

static void subtract(_Atomic uint64_t *counter, uint64_t change)
{
	add(counter, (uint64_t)0 - change);
}

static struct shared *shared_lock(unsigned size_class)
{
	struct shared *s = &classes[size_class];
	pthread_mutex_lock(&s->lock);
	unsigned sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);
	/* acq_rel: what follows is not seen before the odd number; pairs with the acquire loads of the reader */
	atomic_exchange_explicit(&s->sequence, sequence + 1, memory_order_acq_rel);
	return s;
}

static void shared_unlock(struct shared *s)
{
	unsigned sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);
	/* release: what came before is seen with the even number; pairs with the reader's first load */
	atomic_store_explicit(&s->sequence, sequence + 1, memory_order_release);
	pthread_mutex_unlock(&s->lock);
}

/* A page with a free block, in the heap: the best one, the kept one, or one from the space. */
static struct page *page_with_free(struct shared *s, unsigned size_class)
{
	struct page *page = s->pages.root;
	if (page)
		return page;
	const struct size_class *c = &size_classes[size_class];
	page = s->kept;
	if (page) {
		s->kept = NULL;
		subtract(&s->kept_pages, c->span_pages);
	} else {
		page = space_take(size_class);
		if (!page)
			return NULL;
		add(&s->held_pages, c->span_pages);
	}
	page->fullness = 0;
	page_heap_insert(&s->pages, page);
	add(&s->covered_blocks, c->page_blocks);
	return page;
}

/* Moves up to most blocks of the best page to the front of a chain; returns how many. */
static uint32_t page_take(struct shared *s, struct page *page, const struct size_class *c, uint32_t most, void ***tail)
{
	uint32_t count = 0;
	while (count < most && page->free) {
		**tail = page->free;
		*tail = page->free;
		page->free = **tail;
		count++;
	}
	char *block = page->base + (size_t)page->fresh * c->block_size;
	for (; count < most && page->fresh < c->page_blocks; count++, page->fresh++, block += c->block_size) {
		**tail = block;
		*tail = (void **)block;
	}
	page->used += count;
	if (page->used == c->page_blocks)
		page_heap_remove(&s->pages, page);
	else
		page->fullness =
			(uint8_t)(page->used >> s->fullness_shift); /* the best one gets better: stays the root */
	return count;
}

static void *take_locked(struct shared *s, unsigned size_class, uint32_t most, uint32_t *count)
{
	void *chain = NULL, **tail = &chain;
	*count = 0;
	while (*count < most) {
		struct page *page = page_with_free(s, size_class);
		if (!page)
			break;
		*count += page_take(s, page, &size_classes[size_class], most - *count, &tail);
	}
	*tail = NULL;
	add(&s->out_blocks, *count);
	return chain;
}

static void page_became_empty(struct shared *s, struct page *page, const struct size_class *c)
{
	page_heap_remove(&s->pages, page);
	subtract(&s->covered_blocks, c->page_blocks);
	page->free = NULL;
	page->fresh = 0;
	if (!s->kept) {
		s->kept = page;
		add(&s->kept_pages, c->span_pages);
	} else {
		subtract(&s->held_pages, c->span_pages);
		space_put(page);
	}
}

static void give_locked(struct shared *s, unsigned size_class, void *block)
{
	const struct size_class *c = &size_classes[size_class];
	if (QA_UNLIKELY_(page_map_kind(block) != size_class + 1)) {
		unsigned kind = page_map_kind(block);
		if (kind == PAGE_KIND_NONE || kind == PAGE_KIND_LARGE)
			fatal_block("not a block of this size class, or freed twice", block, UINT32_MAX, c->block_size);
		fatal_block("freed with a wrong size", block, size_classes[kind - 1].block_size, c->block_size);
	}
	struct page *page = page_map_page(block);
	*(void **)block = page->free;
	page->free = block;
	if (QA_UNLIKELY_(page->used == 0))
		fatal_block("freed twice", block, c->block_size, UINT32_MAX);
	page->used--;
	subtract(&s->out_blocks, 1);
	uint8_t fullness = (uint8_t)(page->used >> s->fullness_shift);
	if (!page->in_heap || fullness != page->fullness) {
		if (page->in_heap)
			page_heap_remove(&s->pages, page);
		page->fullness = fullness;
		page_heap_insert(&s->pages, page);
	}
	if (page->used == 0)
		page_became_empty(s, page, c);
}

void *shared_take(unsigned size_class, uint32_t most, uint32_t *count)
{
	struct shared *s = shared_lock(size_class);
	void *chain = take_locked(s, size_class, most, count);
	shared_unlock(s);
	return chain;
}

void shared_give(unsigned size_class, void *chain)
{
	struct shared *s = shared_lock(size_class);
	while (chain) {
		void *next = *(void **)chain;
		give_locked(s, size_class, chain);
		chain = next;
	}
	shared_unlock(s);
}

void *shared_take_direct(unsigned size_class)
{
	uint32_t count;
	struct shared *s = shared_lock(size_class);
	void *block = take_locked(s, size_class, 1, &count);
	add(&s->direct_allocs, count);
	shared_unlock(s);
	return block;
}

void shared_give_direct(unsigned size_class, void *block)
{
	struct shared *s = shared_lock(size_class);
	give_locked(s, size_class, block);
	add(&s->direct_frees, 1);
	shared_unlock(s);
}

void shared_count_direct_alloc(unsigned size_class)
{
	struct shared *s = shared_lock(size_class);
	add(&s->direct_allocs, 1);
	shared_unlock(s);
}

void shared_release_kept(unsigned size_class)
{
	struct shared *s = shared_lock(size_class);
	struct page *page = s->kept;
	if (page) {
		s->kept = NULL;
		subtract(&s->kept_pages, size_classes[size_class].span_pages);
		subtract(&s->held_pages, size_classes[size_class].span_pages);
		space_put(page);
	}
	shared_unlock(s);
}

struct shared_counts shared_read_counts(unsigned size_class)
{
	struct shared *s = &classes[size_class];
	struct shared_counts counts = {0};
	for (int tries = 0; tries < 1000; tries++) {
		unsigned before = atomic_load_explicit(&s->sequence, memory_order_acquire);
		/* acquire: the number is read again after all of them */
		counts.pages = atomic_load_explicit(&s->held_pages, memory_order_acquire);
		counts.kept_pages = atomic_load_explicit(&s->kept_pages, memory_order_acquire);
		counts.covered_blocks = atomic_load_explicit(&s->covered_blocks, memory_order_acquire);
		counts.out_blocks = atomic_load_explicit(&s->out_blocks, memory_order_acquire);
		counts.direct_allocs = atomic_load_explicit(&s->direct_allocs, memory_order_acquire);
		counts.direct_frees = atomic_load_explicit(&s->direct_frees, memory_order_acquire);
		if (before % 2 == 0 && before == atomic_load_explicit(&s->sequence, memory_order_relaxed))
			break;
		if (tries % 16 == 15)
			sched_yield();
	}
	return counts;
}

void shared_lock_all(void)
{
	for (unsigned i = 0; i < QA_CLASSES_; i++)
		pthread_mutex_lock(&classes[i].lock);
}

void shared_unlock_all(void)
{
	for (unsigned i = QA_CLASSES_; i-- > 0;)
		pthread_mutex_unlock(&classes[i].lock);
}
