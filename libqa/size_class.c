/*
 * The classes of block sizes: multiples of 8 up to 128, then eight a doubling, so that at most a ninth of a block is
 * not asked for, a 24th on average. Four a doubling took 4 % more memory in the benchmark of mixed sizes. Multiples of
 * 8 that are not of 16 serve only callers that state an alignment of 8 or less. A page has at least eight blocks of its
 * class, so that large blocks do not leave much of it uncovered; it may therefore be several units of page_size long.
 */
#include "size_class.h"

#include <stdatomic.h>
#include <stddef.h>

enum { PAGE_BLOCKS_MIN = 8, BATCH_MAX = 256, BATCH_BYTES = 16 << 10 };

const uint32_t size_class_grains[SIZE_CLASS_GRAINS] = {8, 16, 24, 32}; /* bytes */

struct size_class size_classes[QA_CACHES_];
static atomic_uint end = QA_CLASS_POOL_;
static uint32_t page_bytes;
static bool is_guarded;

unsigned size_class_end(void)
{
	/* acquire: pairs with the release of who added the last one; its row is seen */
	return atomic_load_explicit(&end, memory_order_acquire);
}

static uint32_t block_size_of(unsigned size_class)
{
	if (size_class <= 16)
		return size_class * 8;
	unsigned doubling = (size_class - 17) / 8, eighth = (size_class - 17) % 8;
	return (9 + eighth) << (4 + doubling);
}

/* A block with its guard keeps its alignment. */
static uint32_t guard_bytes(uint32_t block_size)
{
	uint32_t alignment = block_size & (0 - block_size);
	return alignment > 4096 ? 4096 : alignment;
}

static unsigned grain_of(uint32_t block_size, uint32_t page_blocks)
{
	unsigned grain = SIZE_CLASS_GRAINS - 1;
	if (page_blocks <= SIZE_CLASS_NEAR_BLOCKS)
		return SIZE_CLASS_NEAR;
	while (grain > 0 && size_class_grains[grain] > block_size)
		grain--;
	return grain;
}

static void set(struct size_class *c, uint32_t usable)
{
	uint32_t block_size = usable + (is_guarded ? guard_bytes(usable) : 0);
	c->usable = usable;
	c->block_size = block_size;
	c->span_pages = 1;
	while (c->span_pages * page_bytes / block_size < PAGE_BLOCKS_MIN)
		c->span_pages *= 2;
	c->page_blocks = c->span_pages * page_bytes / block_size;
	c->reciprocal = (uint32_t)((((uint64_t)1 << 32) + block_size - 1) / block_size);
	c->grain = grain_of(block_size, c->page_blocks);
	c->batch = BATCH_BYTES / block_size;
	if (c->batch > BATCH_MAX)
		c->batch = BATCH_MAX;
	if (c->batch == 0)
		c->batch = 1;
}

void size_class_init(uint32_t page_size_bytes, bool has_guards)
{
	page_bytes = page_size_bytes;
	is_guarded = has_guards;
	for (unsigned i = 1; i <= QA_CLASSES_; i++)
		set(&size_classes[i], block_size_of(i));
}

void size_class_add(unsigned size_class, uint32_t block_size)
{
	set(&size_classes[size_class], block_size);
	if (size_class >= atomic_load_explicit(&end, memory_order_relaxed))
		/* release: pairs with size_class_end */
		atomic_store_explicit(&end, size_class + 1, memory_order_release);
}

unsigned size_class_of_aligned(size_t size, size_t align)
{
	if (align > 4096 || size > SIZE_CLASS_MAX_BYTES)
		return QA_CLASS_LARGE_;
	size_t rounded = qa_class_size_(size, align);
	return rounded <= SIZE_CLASS_MAX_BYTES ? qa_class_of_(rounded) : QA_CLASS_LARGE_;
}
