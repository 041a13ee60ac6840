/*
 * A bump allocator over small mappings of its own, apart from the pages of blocks, so that a program that writes over
 * the end of a block does not reach libqa's records.
 */
#include "meta.h"

#include <pthread.h>
#include <stdint.h>

#include "keep.h"

enum { META_ALIGN = 64, META_MAP_BYTES = 64 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next, *end;

void meta_lock(void)
{
	pthread_mutex_lock(&lock);
}

void meta_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void *meta_alloc(size_t size_bytes)
{
	size_bytes = (size_bytes + META_ALIGN - 1) & ~(size_t)(META_ALIGN - 1);
	meta_lock();
	if (size_bytes > (size_t)(end - next)) {
		size_t map_bytes = META_MAP_BYTES;
		while (map_bytes < size_bytes)
			map_bytes *= 2;
		char *fresh = keep_map(map_bytes, META_ALIGN);
		if (!fresh) {
			meta_unlock();
			return NULL;
		}
		next = fresh;
		end = fresh + map_bytes;
	}
	void *record = next;
	next += size_bytes;
	meta_unlock();
	return record;
}
