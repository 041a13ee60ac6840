/*
 * size_class.h - the sizes of blocks, and how pages and batches follow from them.
 *
 * The inline header has the arithmetic from a size to its class (qa_class_of_); here is the way back and what a class
 * needs besides. Filled once by size_class_init, read only afterwards.
 */
#ifndef LIBQA_SIZE_CLASS_H
#define LIBQA_SIZE_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "qa.h"

#pragma GCC visibility push(hidden) /* as in page_map.h */

#define SIZE_CLASS_MAX_BYTES (32u << 10)
#define SIZE_CLASS_TABLE_BYTES 1024u

/*
 * Where the bits of a page's free blocks lie (page_map.h): near its descriptor; or apart, if it has more blocks, in one
 * of four arrays that have for each unit a bit per grain of bytes: the largest grain that is no larger than the block.
 */
enum { SIZE_CLASS_NEAR_BLOCKS = 512, SIZE_CLASS_GRAINS = 4, SIZE_CLASS_NEAR = SIZE_CLASS_GRAINS };

extern const uint32_t size_class_grains[SIZE_CLASS_GRAINS];

struct size_class {
	uint32_t block_size;
	uint32_t usable; /* of it, the program's: all, unless blocks have guards (check.h) */
	uint32_t batch;  /* blocks that move between a cache and elsewhere at once; also the most a cache list has */
	uint32_t span_pages;  /* length of this class's pages, in units of page_size: a power of two */
	uint32_t page_blocks; /* blocks in one of its pages */
	uint32_t reciprocal;  /* 2^32 / block_size, rounded up: see size_class_block_number */
	uint32_t grain;       /* number of a grain, or SIZE_CLASS_NEAR */
};

extern struct size_class size_classes[QA_CACHES_]; /* 0 and the large one are not used */

/* Behind the last class: from 1 to here, exclusive, are the size classes and the pools made so far. Any thread. */
unsigned size_class_end(void);

/* Class of a block of the malloc family (aligned to 16), by (size + 15) / 16, up to SIZE_CLASS_TABLE_BYTES. */
extern const uint8_t size_class_table[SIZE_CLASS_TABLE_BYTES / 16 + 1];

/* Class of a block that is aligned to 8 or less, by (size + 7) / 8, for the same sizes. */
extern const uint8_t size_class_packed[SIZE_CLASS_TABLE_BYTES / 8 + 1];

/* Sets up the row of a named pool, and moves size_class_end behind it. The caller holds the lock of the pools. */
void size_class_add(unsigned size_class, uint32_t block_size);

/* Derives spans and batches from the page size; blocks with guards or without. Called once, before any allocation. */
void size_class_init(uint32_t page_size_bytes, bool has_guards);

/*
 * The number of the block that starts at an offset in its page, without a division: with r the reciprocal, offset =
 * n * block_size and offset < 2^22,   offset * r / 2^32 = n + offset * (rounding < 1) / 2^32 < n + 1.
 * The caller checks that n * block_size is the offset: if not, no block starts there.
 */
static inline uint32_t size_class_block_number(const struct size_class *c, uint32_t offset)
{
	return (uint32_t)((uint64_t)offset * c->reciprocal >> 32);
}

/* The class for a malloc of that size, or QA_CLASS_LARGE_. */
static inline unsigned size_class_of_malloc(size_t size)
{
	if (QA_LIKELY_(size <= SIZE_CLASS_TABLE_BYTES))
		return size_class_table[(size + 15) / 16];
	return size <= SIZE_CLASS_MAX_BYTES ? qa_class_of_(size) : QA_CLASS_LARGE_;
}

/* The class for a size and an alignment (a power of two), or QA_CLASS_LARGE_: too large, or aligned above 4 KiB. */
unsigned size_class_of_aligned(size_t size, size_t align);

#pragma GCC visibility pop
#endif
