/*
 * qa_check.h - what the tests of libqa share: the invariant of the figures, rows by size, blocks with a pattern.
 */
#ifndef QA_CHECK_H
#define QA_CHECK_H

#include "test.h"

#include <string.h>

#include "qa.h"

enum { QA_CHECK_ROWS = QA_STATS_ROWS_MAX };

static inline void check_adds_up(uint64_t held, uint64_t used, uint64_t cached, const uint64_t parts[4])
{
	assert_int_equal(held, used + cached);
	assert_int_equal(cached, parts[0] + parts[1] + parts[2] + parts[3]);
}

/* Reads the statistics and checks that every row and the total add up, and that the total is the sum of the rows. */
static inline size_t check_stats(struct qa_stats *stats, struct qa_class_stats rows[QA_CHECK_ROWS])
{
	size_t count = qa_stats(stats, rows, QA_CHECK_ROWS);
	uint64_t held_bytes = 0, used_bytes = 0;

	assert_in_range(count, 1, QA_CHECK_ROWS);
	for (size_t i = 0; i < count; i++) {
		const struct qa_class_stats *row = &rows[i];
		check_adds_up(row->held_bytes, row->used_bytes, row->cached_bytes,
			      (uint64_t[]){row->thread_bytes, row->partial_bytes, row->empty_bytes, row->slack_bytes});
		if (row->block_size) {
			assert_int_equal(row->used_bytes, row->used_blocks * row->block_size);
			assert_true(row->held_bytes <= row->pages * stats->page_size);
		}
		held_bytes += row->held_bytes;
		used_bytes += row->used_bytes;
	}
	assert_int_equal(stats->held_bytes, held_bytes);
	assert_int_equal(stats->used_bytes, used_bytes);
	check_adds_up(stats->held_bytes, stats->used_bytes, stats->cached_bytes,
		      (uint64_t[]){stats->thread_bytes, stats->partial_bytes, stats->empty_bytes, stats->slack_bytes});
	return count;
}

/* The row of a block size; 0 is the row of large blocks. */
static inline struct qa_class_stats check_row(uint64_t block_size)
{
	struct qa_stats stats;
	struct qa_class_stats rows[QA_CHECK_ROWS];
	size_t count = check_stats(&stats, rows);

	for (size_t i = 0; i < count; i++)
		if (rows[i].block_size == block_size)
			return rows[i];
	fail_msg("no class of %lu bytes", (unsigned long)block_size);
	return rows[0];
}

/* Fills a block with bytes that follow from its address and a seed. */
static inline void pattern_write(void *block, size_t size, unsigned seed)
{
	memset(block, (int)((((uintptr_t)block >> 3) * 31 + seed) & 0xff), size);
}

static inline void pattern_check(const void *block, size_t size, unsigned seed)
{
	const unsigned char *bytes = block;
	unsigned char expected = (unsigned char)((((uintptr_t)block >> 3) * 31 + seed) & 0xff);

	for (size_t i = 0; i < size; i++)
		if (bytes[i] != expected)
			fail_msg("block %p: byte %zu of %zu is %u, not %u", block, i, size, bytes[i], expected);
}

#endif
