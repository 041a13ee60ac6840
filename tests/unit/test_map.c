/*
 * The map of occupancy against what is known of each page: blocks are freed so that each page keeps a chosen number.
 */
#include "qa_check.h"

#include <stdlib.h>
#include <string.h>

#include "space.h"

enum { SIZE = 512, PAGES = 40 };

static struct qa_class_map maps[QA_STATS_ROWS_MAX];

static const struct qa_class_map *map_of(size_t block_size, const char *name)
{
	size_t count = qa_map(maps, QA_STATS_ROWS_MAX);

	for (size_t i = 0; i < count; i++)
		if (maps[i].block_size == block_size && strcmp(maps[i].name, name) == 0)
			return &maps[i];
	fail_msg("no row for %zu '%s'", block_size, name);
	return NULL;
}

static uint64_t partial_bytes(size_t block_size, const char *name)
{
	static struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	struct qa_stats stats, totals;
	size_t count = qa_stats(&stats, rows, QA_STATS_ROWS_MAX);

	/* Without rows, too, all classes are in the totals. */
	assert_int_equal(qa_stats(&totals, NULL, 0), count);
	assert_memory_equal(&totals, &stats, sizeof totals);
	for (size_t i = 0; i < count; i++)
		if (rows[i].block_size == block_size && strcmp(rows[i].name, name) == 0)
			return rows[i].partial_bytes;
	return UINT64_MAX;
}

static uint64_t sum(const uint64_t *tenths)
{
	uint64_t total = 0;

	for (int i = 0; i < QA_TENTHS; i++)
		total += tenths[i];
	return total;
}

static void test_rows_are_those_of_the_statistics(void **state)
{
	(void)state;
	struct qa_stats stats;
	static struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	size_t stats_count = qa_stats(&stats, rows, QA_STATS_ROWS_MAX);

	assert_int_equal(qa_map(NULL, 0), stats_count - 1);
	memset(maps, 0xaa, sizeof maps);
	assert_int_equal(qa_map(maps, 2), stats_count - 1);
	assert_int_equal(maps[0].block_size, rows[0].block_size);
	assert_int_equal(maps[1].block_size, rows[1].block_size);
	assert_true(maps[2].block_size == 0xaaaaaaaaaaaaaaaa); /* not more than asked for */
}

/* Page number i of PAGES keeps so many of its blocks: 1 ... all, in even steps; one of them just half, which is five
 * tenths. */
static uint32_t kept_blocks(size_t page, uint32_t page_blocks)
{
	if (page == PAGES / 2)
		return page_blocks / 2;
	return 1 + (uint32_t)(page * (page_blocks - 1) / (PAGES - 1));
}

static void test_pages_are_sorted_by_tenths(void **state)
{
	(void)state;
	uint32_t page_blocks = space_page_size_bytes() / SIZE;
	size_t blocks = (size_t)PAGES * page_blocks;
	uint64_t expected[QA_TENTHS] = {0}, expected_out[QA_TENTHS] = {0}, expected_free[QA_TENTHS] = {0};
	char **all = calloc(blocks, sizeof *all);
	uintptr_t bases[PAGES];
	uint32_t kept[PAGES] = {0};
	size_t pages = 0;

	for (size_t i = 0; i < blocks; i++)
		assert_non_null(all[i] = qa_malloc(SIZE));
	for (size_t i = 0; i < blocks; i++) {
		uintptr_t base = (uintptr_t)all[i] / space_page_size_bytes();
		size_t page = 0;
		while (page < pages && bases[page] != base)
			page++;
		if (page == pages) {
			assert_true(pages < PAGES);
			bases[pages++] = base;
		}
		if (kept[page] < kept_blocks(page, page_blocks)) {
			kept[page]++;
		} else {
			qa_free(all[i]);
			all[i] = NULL;
		}
	}
	assert_int_equal(pages, PAGES);
	/* Out of the cache into the pages; what must stay is all, so that no OS page goes back. */
	struct qa_trim_options options = {.size = sizeof options, .keep_bytes = UINT64_MAX};
	assert_int_equal(qa_trim(&options, NULL), 0);
	qa_trim(NULL, NULL);

	for (size_t page = 0; page < PAGES; page++) {
		uint32_t percent_up = (kept[page] * 100 + page_blocks - 1) / page_blocks;
		unsigned tenth = (percent_up + 9) / 10 - 1;
		/* by the definition, not by the formula: more than tenth tenths, and at most one more */
		while (kept[page] * 10 <= tenth * page_blocks)
			tenth--;
		expected[tenth]++;
		expected_out[tenth] += (uint64_t)kept[page] * SIZE;
	}
	const struct qa_class_map *map = map_of(SIZE, "");
	assert_int_equal(map->pages, PAGES);
	assert_int_equal(map->empty_pages, 0);
	for (int i = 0; i < QA_TENTHS; i++) {
		assert_int_equal(map->tenth_pages[i], expected[i]);
		assert_int_equal(map->tenth_out_bytes[i], expected_out[i]);
		expected_free[i] = expected[i] * space_page_size_bytes() - expected_out[i];
		assert_true(map->tenth_free_bytes[i] <= expected_free[i]); /* less its holes */
	}
	assert_true(expected[0] > 0 && expected[9] > 0);
	assert_int_equal(sum(map->tenth_free_bytes), partial_bytes(SIZE, ""));
	for (size_t i = 0; i < blocks; i++)
		qa_free(all[i]);
	free(all);
	map = map_of(SIZE, "");
	assert_true(map->empty_pages > 0); /* those that wait */
	qa_trim(NULL, NULL);
	map = map_of(SIZE, "");
	assert_int_equal(map->pages + map->empty_pages, 0);
}

/* Pages of several units count as many; a pool has a row of its own. */
static void test_a_pool_of_large_blocks(void **state)
{
	(void)state;
	struct qa_pool *pool = qa_pool_create("large ones", 20000, 16);
	void *block = qa_pool_alloc(pool);

	assert_non_null(block);
	const struct qa_class_map *map = map_of(20000, "large ones");
	assert_true(map->pages >= 1 && (map->pages & (map->pages - 1)) == 0);
	assert_int_equal(sum(map->tenth_pages), map->pages);
	/* what is out is used, or in this thread's cache */
	assert_int_equal(sum(map->tenth_out_bytes) % 20000, 0);
	assert_int_equal(sum(map->tenth_free_bytes), partial_bytes(20000, "large ones"));
	qa_pool_free(pool, block);
	assert_int_equal(qa_pool_destroy(pool), 0);
	assert_int_equal(map_of(SIZE, "")->pages, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_those_of_the_statistics),
		cmocka_unit_test(test_pages_are_sorted_by_tenths),
		cmocka_unit_test(test_a_pool_of_large_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
