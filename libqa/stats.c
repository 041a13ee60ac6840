/*
 * Statistics are put together from counters that others write meanwhile, without a lock. Each row is made so that it
 * adds up whatever was read: of a class's blocks that are out of its pages, those found in caches and slots are thread,
 * the rest is used; of its pages, what no block covers is slack.
 */
#include "stats.h"

#include <string.h>

#include "check.h"
#include "heap.h"
#include "init.h"
#include "large.h"
#include "os.h"
#include "pool.h"
#include "shared.h"
#include "space.h"
#include "transfer.h"

/* What all heaps have of one class. */
struct heap_sums {
	uint64_t blocks, others_blocks, allocs, frees;
};

static struct heap_sums sum_heaps(unsigned size_class)
{
	struct heap_sums sums = {0};
	const struct heap *own = heap_if_any();
	for (const struct heap *heap = heap_first(); heap; heap = heap->next) {
		struct heap_counts counts = heap_counts(heap, size_class);
		uint64_t blocks = heap_blocks(heap, size_class);
		sums.blocks += blocks;
		if (heap != own && atomic_load_explicit(&heap->has_owner, memory_order_relaxed))
			sums.others_blocks += blocks;
		sums.allocs += counts.allocs;
		sums.frees += counts.frees;
	}
	return sums;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The counts may have been read between two writes (shared.c); so that no part is negative then. */
static void make_plausible(struct shared_counts *counts, const struct size_class *c, uint64_t page_size)
{
	if (c->span_pages == 0) /* of a pool that is just being made */
		return;
	counts->kept_pages = smaller(counts->kept_pages, counts->pages);
	uint64_t pages = counts->pages - counts->kept_pages;
	counts->covered_blocks = smaller(counts->covered_blocks, pages / c->span_pages * c->page_blocks);
	counts->out_blocks = smaller(counts->out_blocks, counts->covered_blocks);
	counts->hole_blocks = smaller(counts->hole_blocks, counts->covered_blocks - counts->out_blocks);
	uint64_t whole_bytes = (counts->covered_blocks - counts->hole_blocks) * c->block_size;
	counts->hole_bytes = smaller(counts->hole_bytes, pages * page_size - whole_bytes);
}

/* Returns the bytes in caches that another thread's trim can not reach where there is no barrier. */
static uint64_t fill_class(struct qa_class_stats *row, unsigned size_class)
{
	if (!space_was_used(size_class)) {
		memset(row, 0, sizeof *row);
		row->block_size = size_classes[size_class].usable;
		return 0;
	}
	struct heap_sums heaps = sum_heaps(size_class);
	uint64_t quarantined = check_quarantined(size_class);
	uint64_t cached_blocks = heaps.blocks + transfer_blocks(size_class) + quarantined;
	struct shared_counts shared = shared_read_counts(size_class);
	struct space_empty empty = space_read_empty(size_class);
	struct size_class c = size_classes[size_class];
	uint64_t page_size = space_page_size_bytes(), block_size = c.usable; /* guards are slack */
	make_plausible(&shared, &c, page_size);
	if (cached_blocks > shared.out_blocks)
		cached_blocks = shared.out_blocks;

	memset(row, 0, sizeof *row);
	row->block_size = block_size;
	row->pages = shared.pages + empty.pages;
	row->held_bytes = shared.pages * page_size - shared.hole_bytes + empty.bytes;
	row->used_blocks = shared.out_blocks - cached_blocks;
	row->used_bytes = row->used_blocks * block_size;
	row->cached_bytes = row->held_bytes - row->used_bytes;
	row->thread_bytes = cached_blocks * block_size;
	row->partial_bytes = (shared.covered_blocks - shared.out_blocks - shared.hole_blocks) * block_size;
	row->empty_bytes = shared.kept_pages * page_size + empty.bytes;
	row->slack_bytes = row->cached_bytes - row->thread_bytes - row->partial_bytes - row->empty_bytes;
	row->allocs = heaps.allocs + shared.direct_allocs;
	row->frees = heaps.frees + shared.direct_frees + quarantined;
	return heaps.others_blocks < cached_blocks ? heaps.others_blocks * block_size : row->thread_bytes;
}

void stats_fill_class(struct qa_class_stats *row, unsigned size_class)
{
	fill_class(row, size_class);
}

/*
 * A pool's row has its name, and counts from its creation. False: there is none. The lock keeps the class from becoming
 * another pool's meanwhile.
 */
static bool fill_pool(struct qa_class_stats *row, unsigned size_class, uint64_t *unreachable_bytes)
{
	struct pool_row pool;
	pool_lock();
	bool is_there = pool_row(size_class, &pool);
	if (is_there)
		*unreachable_bytes = fill_class(row, size_class);
	pool_unlock();
	if (!is_there)
		return false;
	memcpy(row->name, pool.name, sizeof row->name);
	row->allocs -= pool.allocs_before;
	row->frees -= pool.frees_before;
	return true;
}

static void fill_large(struct qa_class_stats *row)
{
	struct large_counts large = large_read_counts();
	memset(row, 0, sizeof *row);
	row->held_bytes = row->used_bytes = large.held_bytes;
	row->used_blocks = large.blocks;
	row->allocs = large.allocs;
	row->frees = large.frees;
}

static void add_row(struct qa_stats *stats, const struct qa_class_stats *row)
{
	stats->held_bytes += row->held_bytes;
	stats->used_bytes += row->used_bytes;
	stats->cached_bytes += row->cached_bytes;
	stats->thread_bytes += row->thread_bytes;
	stats->partial_bytes += row->partial_bytes;
	stats->empty_bytes += row->empty_bytes;
	stats->slack_bytes += row->slack_bytes;
	stats->allocs += row->allocs;
	stats->frees += row->frees;
}

size_t qa_stats(struct qa_stats *stats, struct qa_class_stats *classes, size_t capacity)
{
	init_ensure();
	memset(stats, 0, sizeof *stats);
	stats->page_size = space_page_size_bytes();
	for (const struct heap *heap = heap_first(); heap; heap = heap->next)
		stats->threads += atomic_load_explicit(&heap->has_owner, memory_order_relaxed);
	size_t rows = 0;
	unsigned end = size_class_end();
	for (unsigned i = 1; i <= end; i++) {
		struct qa_class_stats row;
		uint64_t unreachable_bytes = 0;
		if (capacity == 0 && i < QA_CLASS_POOL_ && !space_was_used(i)) {
			rows++; /* all zero, and nobody asks for it */
			continue;
		}
		if (i == end)
			fill_large(&row);
		else if (i < QA_CLASS_POOL_)
			unreachable_bytes = fill_class(&row, i);
		else if (!fill_pool(&row, i, &unreachable_bytes))
			continue;
		add_row(stats, &row);
		if (!os_has_barrier())
			stats->unreachable_bytes += unreachable_bytes;
		if (rows < capacity)
			classes[rows] = row;
		rows++;
	}
	return rows;
}
