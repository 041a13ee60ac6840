/*
 * A short array under a lock that is held for nothing but looking through it; the kernel is called outside of it.
 * Ranges are cut at their ends: who takes gets the front, what has to go is the back. With
 *
 *     held <= units * unit_bytes, unit_bytes <= page_size
 *
 * of a range, each part of a cut has min(held, its units * unit_bytes): too much rather than too little, but just right
 * for blocks of one size that fill less than a unit each.
 *
 * Where the kernel can not unmap, since it would have to part a mapping and has too many, it takes the memory, and the
 * addresses stay here for a next block: otherwise nobody would know them any more.
 */
#include "keep.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "os.h"

struct range {
	char *base;
	size_t bytes, held_bytes;
	size_t unit_bytes; /* the most that may be in memory of one unit */
	uint64_t since;    /* a number that grows with each that comes */
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

/* With the lock held, as the next ones: that place has this range from now on; one without bytes is no more. */
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

/* So many bytes from there on. */
static struct range part_of(const struct range *range, size_t offset, size_t bytes)
{
	struct range part = *range;
	part.base += offset;
	part.bytes = bytes;
	part.held_bytes = smaller(range->held_bytes, bytes / page_size_bytes * range->unit_bytes);
	return part;
}

static void cut_back(unsigned place, size_t bytes, struct leaving *leaving)
{
	struct range whole = ranges[place];
	leaving->ranges[leaving->count++] = part_of(&whole, whole.bytes - bytes, bytes);
	change(place, part_of(&whole, 0, whole.bytes - bytes));
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
		range->unit_bytes = other.unit_bytes > range->unit_bytes ? other.unit_bytes : range->unit_bytes;
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

/* How long a range may stay, when so much of its memory has to go; rounded up it keeps more than it may. */
static size_t stays_of(const struct range *range, uint64_t excess_bytes, bool is_rounded_up)
{
	if (range->held_bytes <= excess_bytes)
		return 0;
	size_t stays_bytes = (size_t)(range->held_bytes - excess_bytes);
	return (stays_bytes + (is_rounded_up ? range->unit_bytes - 1 : 0)) / range->unit_bytes * page_size_bytes;
}

static void obey_limit(struct leaving *leaving)
{
	while (keep_held_bytes() > limit_bytes) {
		unsigned place = oldest();
		struct range range = ranges[place];
		size_t rest = stays_of(&range, keep_held_bytes() - limit_bytes, false);
		cut_back(place, range.bytes - rest, leaving);
	}
}

/* The kernel could not unmap it. If it took the memory, the rest is addresses, which cost nothing. */
static void stay(struct range range)
{
	if (os_return(range.base, range.bytes))
		range.held_bytes = range.unit_bytes = 0;
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
	size_t unit_bytes = smaller(held_bytes, page_size_bytes); /* in full but for the last unit */
	struct range range = {base, bytes, held_bytes, unit_bytes, 0};
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
		struct range whole = ranges[best];
		taken = part_of(&whole, 0, bytes);
		change(best, part_of(&whole, bytes, whole.bytes - bytes));
	}
	keep_unlock();
	*held_bytes = taken.held_bytes;
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
		size_t rest = stays_of(&range, keep_held_bytes() - least_bytes, true);
		if (rest < range.bytes)
			cut_back(i, range.bytes - rest, &leaving);
	}
	uint64_t released_bytes = before_bytes - keep_held_bytes();
	keep_unlock();
	unmap(&leaving);
	return released_bytes;
}
