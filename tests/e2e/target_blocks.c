/*
 * Groups of blocks with a pattern. The pattern of a block depends on its group and place, so a block that was
 * given out twice, or overwritten by the allocator while in use, differs from what was written.
 */
#include "target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <qa.h>

struct block {
	uint8_t *data;
	size_t size, align;
	uint8_t pattern;
};

struct group {
	struct block *blocks; /* from malloc: nothing of the test's own shows in libqa's figures */
	size_t count;
};

static struct group groups[GROUPS];

static bool block_is_whole(const struct block *block)
{
	for (size_t i = 0; i < block->size; i++) {
		if (block->data[i] != block->pattern)
			return false;
	}
	return true;
}

static int block_make(struct block *block, size_t size, size_t align, uint8_t pattern)
{
	uint8_t *data = align ? qa_alloc(size, align) : qa_malloc(size);
	if (!data)
		return -errno;
	if ((uintptr_t)data % (align ? align : 16) != 0)
		return -EFAULT;
	memset(data, pattern, size);
	*block = (struct block){data, size, align, pattern};
	return 0;
}

static void block_free(const struct block *block)
{
	if (block->align)
		qa_dealloc(block->data, block->size, block->align);
	else
		qa_free(block->data);
}

int blocks_add(unsigned group, size_t count, size_t size, size_t align)
{
	struct group *to = &groups[group];
	struct block *blocks = reallocarray(to->blocks, to->count + count + 1, sizeof *blocks);
	if (!blocks)
		return -ENOMEM;
	to->blocks = blocks;
	for (size_t i = 0; i < count; i++) {
		int status = block_make(&blocks[to->count], size, align, (uint8_t)(31 * group + to->count + 1));
		if (status < 0)
			return status;
		to->count++;
	}
	return 0;
}

size_t blocks_remove(unsigned group, size_t keep_every)
{
	struct group *from = &groups[group];
	size_t bad = 0;
	size_t kept = 0;
	for (size_t i = 0; i < from->count; i++) {
		if (keep_every && i % keep_every == 0) {
			from->blocks[kept++] = from->blocks[i];
			continue;
		}
		bad += !block_is_whole(&from->blocks[i]);
		block_free(&from->blocks[i]);
	}
	from->count = kept;
	return bad;
}

size_t blocks_check(unsigned group)
{
	size_t bad = 0;
	for (size_t i = 0; i < groups[group].count; i++)
		bad += !block_is_whole(&groups[group].blocks[i]);
	return bad;
}

size_t blocks_count(unsigned group)
{
	return groups[group].count;
}

size_t blocks_usable_bytes(unsigned group)
{
	size_t bytes = 0;
	for (size_t i = 0; i < groups[group].count; i++)
		bytes += qa_usable_size(groups[group].blocks[i].data);
	return bytes;
}
