/*
 * A short array under a lock that is held for nothing but looking through it; the kernel is called outside of it.
 * Ranges are cut at their ends: who takes gets the front, what has to go is the back. With
 *
 *     held <= bytes
 *
 * of a range, each part of a cut has min(its bytes, held): too much rather than too little.
 *
 * Where the kernel can not unmap, since it would have to part a mapping and has too many, it takes the memory, and the
 * addresses stay here for a next block: otherwise nobody would know them any more.
 */
#include "keep.h"

#include <pthread.h>
#include <stdatomic.h>

#include "align.h"
#include "os.h"

struct range {
	char *base;
	size_t bytes, held_bytes;
	uint64_t since; /* a number that grows with each that comes */
};

/* What leaves, to be unmapped without the lock. */
struct leaving {
	struct range ranges[KEEP_MAX + 1];
	unsigned count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range ranges[KEEP_MAX];
static unsigned count;
static uint64_t last_since, limit_bytes;
static uint32_t page_size_bytes;
static _Atomic uint64_t held; /* the sum; written with the lock held */

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

uint64_t keep_held_bytes(void)
{
	return atomic_load_explicit(&held, memory_order_relaxed);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* With the lock held, as are the next ones: the range at this place is that from now on; one without bytes is no more.
 */
static void change(unsigned place, struct range range)
{
	uint64_t sum = keep_held_bytes() - ranges[place].held_bytes + range.held_bytes;
	atomic_store_explicit(&held, sum, memory_order_relaxed);
	ranges[place] = range.bytes > 0 ? range : ranges[--count];
}

static void add(const struct range *range)
{
	ranges[count] = (struct range){.base = NULL};
	change(count++, *range);
}

static void cut_back(unsigned place, size_t bytes, struct leaving *leaving)
{
	struct range rest = ranges[place];
	size_t left_bytes = smaller(rest.held_bytes, bytes);
	rest.bytes -= bytes;
	rest.held_bytes = smaller(rest.held_bytes, rest.bytes);
	leaving->ranges[leaving->count++] = (struct range){rest.base + rest.bytes, bytes, left_bytes, rest.since};
	change(place, rest);
}

static unsigned oldest(void)
{
	unsigned found = 0;
	for (unsigned i = 1; i < count; i++)
		if (ranges[i].since < ranges[found].since)
			found = i;
	return found;
}

/* The range has its neighbours in it. */
static void join(struct range *range)
{
	for (unsigned i = 0; i < count;) {
		struct range other = ranges[i];
		if (other.base + other.bytes != range->base && range->base + range->bytes != other.base) {
			i++;
			continue;
		}
		range->base = other.base < range->base ? other.base : range->base;
		range->bytes += other.bytes;
		range->held_bytes += other.held_bytes;
		change(i, (struct range){.base = NULL});
	}
}

static void make_room(struct leaving *leaving)
{
	if (count == KEEP_MAX) {
		unsigned place = oldest();
		cut_back(place, ranges[place].bytes, leaving);
	}
}

/* What of a range may stay in memory when so much has to go. */
static size_t stays_of(const struct range *range, uint64_t excess_bytes)
{
	return range->held_bytes > excess_bytes ? (size_t)(range->held_bytes - excess_bytes) : 0;
}

static void obey_limit(struct leaving *leaving)
{
	while (keep_held_bytes() > limit_bytes) {
		unsigned place = oldest();
		struct range range = ranges[place];
		size_t stays = stays_of(&range, keep_held_bytes() - limit_bytes);
		cut_back(place, range.bytes - stays / page_size_bytes * page_size_bytes, leaving);
	}
}

/* The kernel could not unmap it. If it took the memory, the rest is addresses, which cost nothing. */
static void stay(struct range range)
{
	if (os_return(range.base, range.bytes))
		range.held_bytes = 0;
	keep_lock();
	join(&range);
	if (count < KEEP_MAX)
		add(&range);
	keep_unlock();
}

static void unmap(const struct leaving *leaving)
{
	for (unsigned i = 0; i < leaving->count; i++)
		if (!os_unmap(leaving->ranges[i].base, leaving->ranges[i].bytes))
			stay(leaving->ranges[i]);
}

void keep_put(void *base, size_t bytes, size_t held_bytes)
{
	struct range range = {base, bytes, held_bytes, 0};
	struct leaving leaving;
	leaving.count = 0;
	if (bytes > limit_bytes / 4) {
		leaving.ranges[leaving.count++] = range;
	} else {
		keep_lock();
		range.since = ++last_since;
		join(&range);
		make_room(&leaving);
		add(&range);
		obey_limit(&leaving);
		keep_unlock();
	}
	unmap(&leaving);
}

static unsigned best_for(size_t bytes, size_t align_bytes)
{
	unsigned best = KEEP_MAX;
	for (unsigned i = 0; i < count; i++)
		if (ranges[i].bytes >= bytes && ((uintptr_t)ranges[i].base & (align_bytes - 1)) == 0 &&
		    (best == KEEP_MAX || ranges[i].bytes < ranges[best].bytes))
			best = i;
	return best;
}

void *keep_take(size_t bytes, size_t align_bytes, size_t *held_bytes)
{
	struct range taken = {.base = NULL};
	if (bytes > limit_bytes / 4)
		return NULL;
	keep_lock();
	unsigned best = best_for(bytes, align_bytes);
	if (best < KEEP_MAX) {
		struct range rest = taken = ranges[best];
		rest.base += bytes;
		rest.bytes -= bytes;
		rest.held_bytes = smaller(rest.held_bytes, rest.bytes);
		change(best, rest);
	}
	keep_unlock();
	*held_bytes = smaller(taken.held_bytes, bytes);
	return taken.base;
}

void *keep_map(size_t map_bytes, size_t align_bytes)
{
	void *address = os_map(map_bytes, align_bytes);
	if (address)
		return address;
	keep_release(UINT64_MAX); /* or another thread just did */
	return os_map(map_bytes, align_bytes);
}

uint64_t keep_release(uint64_t most_bytes)
{
	struct leaving leaving;
	leaving.count = 0;
	keep_lock();
	uint64_t before_bytes = keep_held_bytes(), least_bytes = before_bytes - smaller(before_bytes, most_bytes);
	/* All of it: also what has no memory. */
	for (unsigned i = count; i-- > 0 && (least_bytes == 0 || keep_held_bytes() > least_bytes);) {
		struct range range = ranges[i];
		size_t rest = align_up(stays_of(&range, keep_held_bytes() - least_bytes), page_size_bytes);
		if (rest < range.bytes)
			cut_back(i, range.bytes - rest, &leaving);
	}
	uint64_t released_bytes = before_bytes - keep_held_bytes();
	keep_unlock();
	unmap(&leaving);
	return released_bytes;
}
