/*
 * A row is put together from counters that others write meanwhile, without a lock. It is made so that it adds up
 * whatever was read: of a class's blocks that are out of its pages, those found in caches and slots are thread, the
 * rest is used; of its pages, what no block covers is slack.
 */
#include "stats_class.h"

#include <string.h>

#include "check.h"
#include "heap.h"
#include "shared.h"
#include "size_class.h"
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

uint64_t stats_fill_class(struct qa_class_stats *row, unsigned size_class)
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
