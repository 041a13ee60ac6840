/*
 * Trim goes the way of the blocks: out of the thread caches, then out of the slots between threads, into their pages;
 * then the pages that became empty go back to the OS. A heap is stopped only while its lists are unhooked, some hundred
 * instructions; the blocks are given to the pages after its owner may go on.
 */
#include "trim.h"

#include <errno.h>
#include <pthread.h>

#include "drain.h"
#include "init.h"
#include "os.h"
#include "shared.h"
#include "size_class.h"
#include "space.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void trim_lock(void)
{
	pthread_mutex_lock(&lock);
}

void trim_unlock(void)
{
	pthread_mutex_unlock(&lock);
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
	drain_transfers();
	unsigned end = size_class_end();
	for (unsigned i = 1; i < end; i++)
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
	/* Outside of the lock: they take that of the pools, which comes before it. */
	qa_stats(&before, NULL, 0);
	trim_lock();
	done.returned_bytes = trim_all(&done.threads_skipped);
	trim_unlock();
	qa_stats(&after, NULL, 0);
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
