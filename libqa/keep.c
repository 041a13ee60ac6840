/*
 * An array in the order in which they came, under a lock that is held for nothing but looking through it; the kernel is
 * called outside of it. Who searches takes the smallest that fits.
 */
#include "keep.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "align.h"
#include "os.h"

struct kept {
	char *base;
	size_t size_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept all[KEEP_MAX];
static unsigned count;
static uint64_t limit_bytes;
static uint32_t page_size_bytes;
static _Atomic uint64_t bytes; /* written with the lock held */

void keep_init(uint32_t page_size, uint64_t limit)
{
	page_size_bytes = page_size;
	limit_bytes = limit;
}

void keep_lock(void)
{
	pthread_mutex_lock(&lock);
}

void keep_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

uint64_t keep_bytes(void)
{
	return atomic_load_explicit(&bytes, memory_order_relaxed);
}

static void change_bytes(uint64_t change)
{
	atomic_store_explicit(&bytes, keep_bytes() + change, memory_order_relaxed);
}

/* With the lock held. */
static struct kept remove_at(unsigned place)
{
	struct kept kept = all[place];
	count--;
	memmove(&all[place], &all[place + 1], (count - place) * sizeof all[0]);
	change_bytes((uint64_t)0 - kept.size_bytes);
	return kept;
}

static void unmap(const struct kept *kept)
{
	os_unmap(kept->base, align_up(kept->size_bytes, page_size_bytes));
}

bool keep_put(void *base, size_t size_bytes)
{
	struct kept leaving[KEEP_MAX];
	unsigned leaving_count = 0;
	if (size_bytes > limit_bytes / 4)
		return false;
	keep_lock();
	while (count == KEEP_MAX || keep_bytes() + size_bytes > limit_bytes)
		leaving[leaving_count++] = remove_at(0);
	all[count++] = (struct kept){base, size_bytes};
	change_bytes(size_bytes);
	keep_unlock();
	for (unsigned i = 0; i < leaving_count; i++)
		unmap(&leaving[i]);
	return true;
}

void *keep_take(size_t size_bytes, size_t align_bytes, size_t *kept_bytes)
{
	size_t best_bytes = size_bytes + size_bytes / 8 + 1;
	unsigned best = KEEP_MAX;
	struct kept kept = {NULL, 0};
	if (keep_bytes() < size_bytes)
		return NULL;
	keep_lock();
	for (unsigned i = 0; i < count; i++) {
		if (all[i].size_bytes < size_bytes || all[i].size_bytes >= best_bytes ||
		    ((uintptr_t)all[i].base & (align_bytes - 1)) != 0)
			continue;
		best = i;
		best_bytes = all[i].size_bytes;
	}
	if (best < KEEP_MAX)
		kept = remove_at(best);
	keep_unlock();
	*kept_bytes = kept.size_bytes;
	return kept.base;
}

void *keep_map(size_t map_bytes, size_t align_bytes)
{
	void *address = os_map(map_bytes, align_bytes);
	return address || keep_release(UINT64_MAX) == 0 ? address : os_map(map_bytes, align_bytes);
}

uint64_t keep_release(uint64_t most_bytes)
{
	struct kept leaving[KEEP_MAX];
	unsigned leaving_count = 0;
	uint64_t released_bytes = 0;
	keep_lock();
	for (unsigned i = 0; i < count;) {
		if (all[i].size_bytes > most_bytes - released_bytes) {
			i++;
			continue;
		}
		leaving[leaving_count] = remove_at(i);
		released_bytes += leaving[leaving_count++].size_bytes;
	}
	keep_unlock();
	for (unsigned i = 0; i < leaving_count; i++)
		unmap(&leaving[i]);
	return released_bytes;
}
