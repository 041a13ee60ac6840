/*
 * Trim goes the way of the blocks: out of the thread caches, then out of the slots between threads, into their pages;
 * then the pages that became empty go back to the OS. A heap is stopped only while its lists are unhooked, some hundred
 * instructions; the blocks are given to the pages after its owner may go on.
 */
#include "trim.h"

#include <errno.h>
#include <pthread.h>

#include "heap.h"
#include "init.h"
#include "os.h"
#include "shared.h"
#include "size_class.h"
#include "space.h"
#include "transfer.h"

enum { PASSES = 3, CLASSES_AT_ONCE = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void trim_lock(void)
{
	pthread_mutex_lock(&lock);
}
void trim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

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
	unsigned classes = size_class_count();
	for (unsigned first = 0; first < classes; first += CLASSES_AT_ONCE) {
		struct heap_content contents[CLASSES_AT_ONCE];
		unsigned count = classes - first < CLASSES_AT_ONCE ? classes - first : CLASSES_AT_ONCE;
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
	unsigned classes = size_class_count();
	for (unsigned i = 0; i < classes; i++)
		if (heap_blocks(heap, i) > 0)
			return true;
	return false;
}

/* Goes round again for those whose owner was inside. Returns how many were left. */
static uint64_t drain_heaps(void)
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
	return skipped;
}

/* No barrier: owners are asked, see cache.c. */
static void ask_for_flush(void)
{
	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		atomic_store_explicit(&heap->is_flush_wanted, true, memory_order_relaxed);
}

static void drain_transfers(void)
{
	unsigned classes = size_class_count();
	for (unsigned i = 0; i < classes; i++) {
		uint32_t count;
		for (void *chain; (chain = transfer_take(i, &count)) != NULL;)
			shared_give(i, chain);
	}
}

/* Partly used pages: what no block that is out has a byte of. */
static uint64_t return_inside(void)
{
	struct space_cursor cursor = {0};
	uint64_t returned_bytes = 0;
	for (char *unit; space_next_unit(&cursor, &unit);)
		returned_bytes += shared_return_inside(unit);
	return returned_bytes;
}

static uint64_t trim_all(uint64_t *threads_skipped)
{
	*threads_skipped = drain_heaps();
	if (!os_has_barrier())
		ask_for_flush();
	drain_transfers();
	unsigned classes = size_class_count();
	for (unsigned i = 0; i < classes; i++)
		shared_release_kept(i);
	return space_return_empty() + return_inside();
}

int qa_trim(const struct qa_trim_options *options, struct qa_trim_result *result)
{
	if (options && (options->size != sizeof *options || options->flags != 0))
		return -EINVAL;
	int saved = errno;
	struct qa_stats before, after;
	struct qa_trim_result done = {0};
	uint64_t start_us = os_clock_us();
	init_ensure();
	trim_lock();
	qa_stats(&before, NULL, 0);
	done.returned_bytes = trim_all(&done.threads_skipped);
	qa_stats(&after, NULL, 0);
	trim_unlock();
	done.held_before_bytes = before.held_bytes;
	done.held_after_bytes = after.held_bytes;
	done.cached_before_bytes = before.cached_bytes;
	done.cached_after_bytes = after.cached_bytes;
	done.duration_us = os_clock_us() - start_us;
	if (result)
		*result = done;
	errno = saved;
	return 0;
}
