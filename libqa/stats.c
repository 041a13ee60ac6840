/*
 * The statistics: a row for each class (stats_class.c), pool and for large blocks, and their sums. No lock is taken but
 * that of the pools' names.
 */
#include <string.h>

#include "heap.h"
#include "init.h"
#include "keep.h"
#include "large.h"
#include "os.h"
#include "pool.h"
#include "size_class.h"
#include "space.h"
#include "stats_class.h"

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
		*unreachable_bytes = stats_fill_class(row, size_class);
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
	row->used_bytes = large.used_bytes;
	row->slack_bytes = large.held_bytes > large.used_bytes ? large.held_bytes - large.used_bytes : 0;
	row->empty_bytes = keep_held_bytes();
	row->cached_bytes = row->slack_bytes + row->empty_bytes;
	row->held_bytes = row->used_bytes + row->cached_bytes;
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
			unreachable_bytes = stats_fill_class(&row, i);
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
