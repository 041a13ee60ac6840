/*
 * Blocks are taken from the fullest page (page_heap.h), in address order. A class keeps one page that has become empty,
 * so that a program at the edge of a page does not move one to and fro; further ones go to the space, where every class
 * may have them and a trim finds them.
 *
 * The counts are written under the class's lock, between two steps of a sequence number that is odd meanwhile (a
 * seqlock); a reader that saw the same even number before and after has values that belong together. A writer may be
 * preempted in between, so a reader gives up after some tries, and takes what it read: off by the one operation in
 * flight.
 */
#include "shared.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "fatal.h"
#include "holes.h"
#include "os.h"
#include "page_map.h"
#include "shared_class.h"
#include "space.h"

static struct shared classes[QA_CACHES_] = {[0 ... QA_CACHES_ - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

void shared_init(void)
{
	for (unsigned i = 1; i <= QA_CLASSES_; i++)
		shared_init_class(i);
}

void shared_init_class(unsigned size_class)
{
	uint32_t shift = 0;
	while (size_classes[size_class].page_blocks >> shift > 8)
		shift++;
	classes[size_class].fullness_shift = shift;
}

static __attribute__((noinline)) void wait_at_gate(struct shared *s)
{
	while (s->is_closed) {
		pthread_mutex_unlock(&s->lock);
		pthread_mutex_lock(&gate);
		pthread_mutex_unlock(&gate);
		pthread_mutex_lock(&s->lock);
	}
}

struct shared *shared_lock(unsigned size_class)
{
	struct shared *s = &classes[size_class];
	pthread_mutex_lock(&s->lock);
	if (QA_UNLIKELY_(s->is_closed))
		wait_at_gate(s);
	unsigned sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);
	/* acq_rel: what follows is not seen before the odd number; pairs with the acquire loads of the reader */
	atomic_exchange_explicit(&s->sequence, sequence + 1, memory_order_acq_rel);
	return s;
}

void shared_unlock(struct shared *s)
{
	unsigned sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);
	/* release: what came before is seen with the even number; pairs with the reader's first load */
	atomic_store_explicit(&s->sequence, sequence + 1, memory_order_release);
	pthread_mutex_unlock(&s->lock);
}

static void holed_link(struct shared *s, struct page *page)
{
	page->place = PAGE_HOLED;
	page->prev = NULL;
	page->next = s->holed;
	if (page->next)
		page->next->prev = page;
	s->holed = page;
}

static void holed_unlink(struct shared *s, struct page *page)
{
	if (page->prev)
		page->prev->next = page->next;
	else
		s->holed = page->next;
	if (page->next)
		page->next->prev = page->prev;
	page->place = PAGE_FULL;
}

static void heap_insert(struct shared *s, struct page *page)
{
	page->fullness = (uint8_t)(page->used >> s->fullness_shift);
	page_heap_insert(&s->pages, page);
}

static uint32_t free_blocks(const struct page *page, const struct size_class *c)
{
	return c->page_blocks - page->used - page->missing;
}

void shared_place(struct shared *s, struct page *page, const struct size_class *c)
{
	page->place = PAGE_FULL;
	if (free_blocks(page, c) > 0)
		heap_insert(s, page);
	else if (page->missing > 0)
		holed_link(s, page);
}

static void fill_a_hole(struct shared *s, struct page *page, const struct size_class *c)
{
	holed_unlink(s, page);
	struct holes_filled filled = holes_fill_first(page, c, page_map_free_bits(page, c));
	page->missing -= filled.blocks;
	page->first_word = 0;
	shared_subtract(&s->hole_bytes, filled.bytes);
	shared_subtract(&s->hole_blocks, filled.blocks);
	shared_place(s, page, c);
}

/* All blocks of a page are free. */
static void set_all_bits(struct page *page, const struct size_class *c)
{
	uint64_t *bits = page_map_free_bits(page, c);
	uint32_t words = c->page_blocks / 64, rest = c->page_blocks % 64;
	memset(bits, 0xff, words * sizeof *bits);
	if (rest > 0)
		bits[words] = ((uint64_t)1 << rest) - 1;
	page->first_word = 0;
}

/* A page with a free block, in the heap: the best one, the kept one, one around a hole, or one from the space. */
static struct page *page_with_free(struct shared *s, unsigned size_class)
{
	const struct size_class *c = &size_classes[size_class];
	struct page *page;
	while (!s->pages.root && !s->kept && s->holed)
		fill_a_hole(s, s->holed, c);
	if (s->pages.root)
		return s->pages.root;
	page = s->kept;
	if (page) {
		s->kept = NULL;
		shared_subtract(&s->kept_pages, c->span_pages);
	} else {
		page = space_take(size_class);
		if (!page)
			return NULL;
		shared_add(&s->held_pages, c->span_pages);
		set_all_bits(page, c);
	}
	shared_add(&s->covered_blocks, c->page_blocks);
	heap_insert(s, page);
	return page;
}

/* Moves up to most blocks of the best page to the end of a chain; returns how many. */
static uint32_t page_take(struct shared *s, struct page *page, const struct size_class *c, uint32_t most, void ***tail)
{
	uint64_t *bits = page_map_free_bits(page, c);
	uint32_t available = free_blocks(page, c), count = 0, word = page->first_word;
	if (most > available)
		most = available;
	for (; count < most; word++) {
		uint64_t left = bits[word];
		char *first = page->base + (size_t)word * 64 * c->block_size;
		for (; left != 0 && count < most; left &= left - 1, count++) {
			void *block = first + (size_t)__builtin_ctzll(left) * c->block_size;
			**tail = block;
			*tail = block;
		}
		bits[word] = left;
	}
	page->first_word = word > 0 ? word - 1 : 0;
	page->used += count;
	if (free_blocks(page, c) > 0) {
		/* the best one gets better: it stays the root */
		page->fullness = (uint8_t)(page->used >> s->fullness_shift);
	} else {
		page_heap_remove(&s->pages, page);
		shared_place(s, page, c);
	}
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
	shared_add(&s->out_blocks, *count);
	return chain;
}

void shared_became_empty(struct shared *s, struct page *page, const struct size_class *c)
{
	shared_subtract(&s->covered_blocks, c->page_blocks);
	if (page->hole_pages > 0) {
		shared_subtract(&s->hole_bytes, (uint64_t)page->hole_pages * os_page_bytes());
		shared_subtract(&s->hole_blocks, page->missing);
	}
	page->place = PAGE_EMPTY;
	if (!s->kept && page->hole_pages == 0) {
		s->kept = page;
		shared_add(&s->kept_pages, c->span_pages);
	} else {
		shared_subtract(&s->held_pages, c->span_pages);
		space_put(page);
	}
}

void shared_leave(struct shared *s, struct page *page)
{
	if (page->place == PAGE_IN_HEAP)
		page_heap_remove(&s->pages, page);
	else if (page->place == PAGE_HOLED)
		holed_unlink(s, page);
}

/* The block's bit in its page is set: it is free. Ends the program if no block starts there, or it is free already. */
static void set_bit(struct page *page, const struct size_class *c, uint64_t *bits, void *block)
{
	uint32_t offset = (uint32_t)((char *)block - page->base), number = size_class_block_number(c, offset);
	if (QA_UNLIKELY_(number * c->block_size != offset || number >= c->page_blocks))
		fatal_block("freed what is not the start of a block", block, c->block_size, UINT32_MAX);
	uint64_t *word = &bits[number / 64], bit = (uint64_t)1 << (number % 64);
	if (QA_UNLIKELY_((*word & bit) != 0 || page->used == 0))
		fatal_block("freed twice", block, c->block_size, UINT32_MAX);
	*word |= bit;
	page->used--;
	if (number / 64 < page->first_word)
		page->first_word = number / 64;
}

/* The page that a block of the class is in. Ends the program if it is none. */
static struct page *page_of_block(const void *block, unsigned size_class)
{
	uint32_t block_size = size_classes[size_class].block_size;
	unsigned kind = page_map_kind(block);
	if (QA_LIKELY_(kind == size_class))
		return page_map_page(block);
	if (kind == QA_CLASS_NONE_ || kind == QA_CLASS_LARGE_)
		fatal_block("not a block of this size class, or freed twice", block, UINT32_MAX, block_size);
	fatal_block("freed with a wrong size", block, size_classes[kind].block_size, block_size);
}

/* A page that blocks came back to goes where it belongs now. */
static void settle(struct shared *s, struct page *page, const struct size_class *c)
{
	page->is_walked = 0;
	if (page->place == PAGE_RETURNING)
		return;
	if (page->used == 0) {
		shared_leave(s, page);
		shared_became_empty(s, page, c);
	} else if (page->place != PAGE_IN_HEAP || page->fullness != page->used >> s->fullness_shift) {
		shared_leave(s, page);
		heap_insert(s, page);
	}
}

/* Neighbours in a chain are often of one page, which is then found and settled once. */
static void give_locked(struct shared *s, unsigned size_class, void *chain, uint32_t most)
{
	const struct size_class *c = &size_classes[size_class];
	size_t page_bytes = (size_t)c->span_pages << page_map_shift;
	uint32_t count = 0;
	while (count < most && chain) {
		struct page *page = page_of_block(chain, size_class);
		uint64_t *bits = page_map_free_bits(page, c);
		do {
			/* the last one's link is not read: it may be no chain, but a block of the program's */
			void *next = count + 1 < most ? *(void **)chain : NULL;
			set_bit(page, c, bits, chain);
			chain = next;
			count++;
		} while (chain && (size_t)((char *)chain - page->base) < page_bytes);
		settle(s, page, c);
	}
	shared_subtract(&s->out_blocks, count);
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
	give_locked(s, size_class, chain, UINT32_MAX);
	shared_unlock(s);
}

void *shared_take_direct(unsigned size_class)
{
	uint32_t count;
	struct shared *s = shared_lock(size_class);
	void *block = take_locked(s, size_class, 1, &count);
	shared_add(&s->direct_allocs, count);
	shared_unlock(s);
	return block;
}

void shared_give_direct(unsigned size_class, void *block)
{
	struct shared *s = shared_lock(size_class);
	give_locked(s, size_class, block, 1);
	shared_add(&s->direct_frees, 1);
	shared_unlock(s);
}

void shared_count_direct_alloc(unsigned size_class)
{
	struct shared *s = shared_lock(size_class);
	shared_add(&s->direct_allocs, 1);
	shared_unlock(s);
}

void shared_release_kept(unsigned size_class)
{
	struct shared *s = shared_lock(size_class);
	struct page *page = s->kept;
	if (page) {
		s->kept = NULL;
		shared_subtract(&s->kept_pages, size_classes[size_class].span_pages);
		shared_subtract(&s->held_pages, size_classes[size_class].span_pages);
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
		counts.hole_blocks = atomic_load_explicit(&s->hole_blocks, memory_order_acquire);
		counts.hole_bytes = atomic_load_explicit(&s->hole_bytes, memory_order_acquire);
		counts.direct_allocs = atomic_load_explicit(&s->direct_allocs, memory_order_acquire);
		counts.direct_frees = atomic_load_explicit(&s->direct_frees, memory_order_acquire);
		if (before % 2 == 0 && before == atomic_load_explicit(&s->sequence, memory_order_relaxed))
			break;
		if (tries % 16 == 15)
			sched_yield();
	}
	return counts;
}

/* Not all locks at once: ThreadSanitizer can not follow a thread that holds more than 64. */
void shared_close_all(void)
{
	pthread_mutex_lock(&gate);
	for (unsigned i = 0; i < QA_CACHES_; i++) {
		pthread_mutex_lock(&classes[i].lock);
		classes[i].is_closed = true;
		pthread_mutex_unlock(&classes[i].lock);
	}
}

void shared_open_all(bool is_child)
{
	for (unsigned i = 0; i < QA_CACHES_; i++) {
		if (is_child) /* a thread of the parent may have had it, on its way to the gate */
			pthread_mutex_init(&classes[i].lock, NULL);
		pthread_mutex_lock(&classes[i].lock);
		classes[i].is_closed = false;
		pthread_mutex_unlock(&classes[i].lock);
	}
	pthread_mutex_unlock(&gate);
}
