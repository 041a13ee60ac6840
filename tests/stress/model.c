/*
 * Each block is filled with one byte value; that no two overlap follows from that, and is checked by address too.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_map.h"
#include "size_class.h"
#include "stress.h"

struct model model;

void model_pool_name(unsigned pool, char name[32])
{
	snprintf(name, 32, "operations %u", pool);
}

void model_content_check(const struct model_block *l)
{
	if (l->size == 0)
		return;
	expect_equal(l->block[0], l->fill);
	expect_equal(memcmp(l->block, l->block + 1, l->size - 1), 0);
}

static void content_write(struct model_block *l)
{
	static unsigned char next;
	l->fill = ++next;
	memset(l->block, l->fill, l->size);
}

static uint64_t extent_of(const void *block, size_t usable)
{
	unsigned kind = page_map_kind(block);
	return kind == QA_CLASS_LARGE_ ? usable : size_classes[kind].block_size;
}

void model_add(void *block, size_t size, size_t align, enum family family, unsigned pool)
{
	expect_true(block != NULL);
	expect_equal((uintptr_t)block % align, 0);
	size_t usable = qa_usable_size(block);
	expect_at_most(size, usable);
	model.live[model.count] = (struct model_block){
		.block = block,
		.size = size,
		.align = align,
		.class_bytes = usable > (32 << 10) || align > MODEL_OS_PAGE ? 0 : usable,
		.usable = usable,
		.extent = extent_of(block, usable),
		.family = family,
		.pool = pool,
	};
	content_write(&model.live[model.count++]);
}

void model_remove(size_t i)
{
	model.live[i] = model.live[--model.count];
}

void model_free(size_t i, bool is_special)
{
	struct model_block *l = &model.live[i];
	model_content_check(l);
	if (is_special && l->family == POOL)
		qa_pool_free(model.pools[l->pool], l->block);
	else if (is_special && l->family == SIZED)
		qa_dealloc(l->block, l->size, l->align);
	else if (is_special && l->family == MALLOC)
		qa_free_sized(l->block, l->size);
	else
		qa_free(l->block);
	model_remove(i);
}

bool model_has_pool_blocks(unsigned pool)
{
	for (size_t i = 0; i < model.count; i++) {
		if (model.live[i].family == POOL && model.live[i].pool == pool)
			return true;
	}
	return false;
}

static int by_address(const void *a, const void *b)
{
	const struct model_block *left = a, *right = b;
	return left->block < right->block ? -1 : left->block > right->block;
}

uint64_t model_sort_and_measure(void)
{
	uint64_t bytes = 0;
	uintptr_t behind = 0; /* the first OS page that is not counted yet */
	qsort(model.live, model.count, sizeof *model.live, by_address);
	for (size_t i = 0; i < model.count; i++) {
		const struct model_block *l = &model.live[i];
		if (i > 0)
			expect_at_most((uintptr_t)model.live[i - 1].block + model.live[i - 1].extent,
				       (uintptr_t)l->block);
		uintptr_t first = (uintptr_t)l->block / MODEL_OS_PAGE,
			  end = ((uintptr_t)l->block + l->extent - 1) / MODEL_OS_PAGE + 1;
		if (first < behind)
			first = behind;
		bytes += (end - first) * MODEL_OS_PAGE;
		behind = end;
	}
	return bytes;
}

/* A pool's row or a class's. */
static bool is_of_row(const struct model_block *l, const struct qa_class_stats *row)
{
	char name[32] = "";
	if (l->family == POOL)
		model_pool_name(l->pool, name);
	return strcmp(row->name, name) == 0 && (l->family == POOL || l->class_bytes == row->block_size);
}

void model_check_used(void)
{
	static struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	static uint64_t blocks[QA_STATS_ROWS_MAX];
	struct qa_stats total;
	size_t count = qa_stats(&total, rows, QA_STATS_ROWS_MAX);
	uint64_t used_bytes = 0;

	memset(blocks, 0, sizeof blocks);
	for (size_t i = 0, at = 0; i < model.count; i++) {
		while (!is_of_row(&model.live[i], &rows[at])) /* most often the one of the block before */
			at = (at + 1) % count;
		blocks[at]++;
		used_bytes += model.live[i].usable;
	}
	for (size_t i = 0; i < count; i++) {
		expect_equal(rows[i].used_blocks, blocks[i]);
		expect_equal(rows[i].allocs - rows[i].frees, blocks[i]);
	}
	expect_equal(total.used_bytes, used_bytes);
	expect_equal(total.allocs - total.frees, model.count);
}

void model_check(void)
{
	for (size_t i = 0; i < model.count; i++)
		model_content_check(&model.live[i]);
	model_sort_and_measure();
	stress_figures();
	model_check_used();
}

void model_free_all(void)
{
	while (model.count > 0)
		model_free(model.count - 1, model.count % 2);
	for (unsigned pool = 0; pool < MODEL_POOLS; pool++) {
		expect_equal(qa_pool_destroy(model.pools[pool]), 0);
		model.pools[pool] = NULL;
	}
	model_check_used();
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(stress_figures().held_bytes, 0);
}
