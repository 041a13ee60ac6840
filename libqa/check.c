/*
 * Quarantine is a ring of the blocks freed last. Its lock is taken before those of the classes. A guard's first word is
 * enough to tell free from allocated; the others only catch longer overruns.
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "fatal.h"
#include "options.h"
#include "page_map.h"
#include "shared.h"
#include "size_class.h"
#include "tool.h"

enum { FILL_FREE = 0xdb, GUARD_FREE = 0xdd, GUARD_ALLOCATED = 0xca };
enum { RING = 8192, QUARANTINE_BYTES = 16 << 20 };

struct quarantined {
	void *block;
	unsigned size_class;
};

bool check_is_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct quarantined ring[RING];
static uint32_t oldest, count;
static uint64_t quarantine_bytes;
static _Atomic uint64_t quarantined[QA_CACHES_];

void check_lock(void)
{
	pthread_mutex_lock(&lock);
}

void check_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void check_init(void)
{
	enum options_check setting = options_check();
	check_is_on = setting == OPTIONS_CHECK_ON || (setting == OPTIONS_CHECK_AUTO && tool_is_present());
}

static bool is_all(const unsigned char *bytes, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

static unsigned char *guard_of(void *block, const struct size_class *c)
{
	return (unsigned char *)block + c->usable;
}

static size_t guard_bytes(const struct size_class *c)
{
	return c->block_size - c->usable;
}

void *check_alloc(unsigned size_class)
{
	const struct size_class *c = &size_classes[size_class];
	void *block = shared_take_direct(size_class);
	if (!block)
		return NULL;
	memset(guard_of(block, c), GUARD_ALLOCATED, guard_bytes(c));
	tool_allocated(block, c->usable, guard_bytes(c));
	return block;
}

/* With the lock held: the block that was freed longest ago goes to its page. */
static void release_oldest(void)
{
	struct quarantined released = ring[oldest];
	const struct size_class *c = &size_classes[released.size_class];
	oldest = (oldest + 1) % RING;
	count--;
	quarantine_bytes -= c->block_size;
	tool_forgotten(released.block, c->block_size);
	if (!is_all(released.block, c->usable, FILL_FREE) ||
	    !is_all(guard_of(released.block, c), guard_bytes(c), GUARD_FREE))
		fatal_block("written to after it was freed", released.block, c->usable, UINT32_MAX);
	shared_give_direct(released.size_class, released.block);
	atomic_fetch_sub_explicit(&quarantined[released.size_class], 1, memory_order_relaxed);
}

static void quarantine(void *block, unsigned size_class)
{
	check_lock();
	while (count == RING || (count > 0 && quarantine_bytes > QUARANTINE_BYTES))
		release_oldest();
	ring[(oldest + count) % RING] = (struct quarantined){block, size_class};
	count++;
	quarantine_bytes += size_classes[size_class].block_size;
	atomic_fetch_add_explicit(&quarantined[size_class], 1, memory_order_relaxed);
	check_unlock();
}

/* Ends the program unless it is an allocated block of that class. */
static void examine(void *block, unsigned size_class)
{
	const struct size_class *c = &size_classes[size_class];
	unsigned kind = page_map_kind(block);
	if (kind == QA_CLASS_NONE_ || kind == QA_CLASS_LARGE_)
		fatal_block("freed what is not a block of libqa, or was freed before", block, UINT32_MAX, c->usable);
	if (kind != size_class)
		fatal_block("freed with a wrong size", block, size_classes[kind].usable, c->usable);
	uint32_t offset = (uint32_t)((char *)block - page_map_page(block)->base);
	if (size_class_block_number(c, offset) * c->block_size != offset)
		fatal_block("freed what is not the start of a block", block, c->usable, UINT32_MAX);
	if (is_all(guard_of(block, c), guard_bytes(c), GUARD_FREE))
		fatal_block("freed twice", block, c->usable, UINT32_MAX);
	if (!is_all(guard_of(block, c), guard_bytes(c), GUARD_ALLOCATED))
		fatal_block("written to behind its end", block, c->usable, UINT32_MAX);
}

void check_free(void *block, unsigned size_class)
{
	const struct size_class *c = &size_classes[size_class];
	tool_examined(block, c->usable, guard_bytes(c));
	examine(block, size_class);
	memset(block, FILL_FREE, c->usable);
	memset(guard_of(block, c), GUARD_FREE, guard_bytes(c));
	tool_freed(block, c->usable, guard_bytes(c));
	quarantine(block, size_class);
}

uint64_t check_quarantined(unsigned size_class)
{
	return atomic_load_explicit(&quarantined[size_class], memory_order_relaxed);
}

void check_flush(void)
{
	check_lock();
	while (count > 0)
		release_oldest();
	check_unlock();
}
