/*
 * Named pools: rows with names and exact figures, what is refused, destroying, reuse of a pool's class, and the limit.
 */
#include "qa_check.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

/* Also: who does not want rows gets the same totals, and the same number of rows. */
static bool find_row(const char *name, struct qa_class_stats *found)
{
	struct qa_stats stats, totals;
	static struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	size_t count = qa_stats(&stats, rows, QA_STATS_ROWS_MAX);

	assert_int_equal(qa_stats(&totals, NULL, 0), count);
	assert_memory_equal(&totals, &stats, sizeof totals);
	assert_int_equal(rows[count - 1].block_size, 0);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].name, name) == 0 && name[0] != '\0') {
			*found = rows[i];
			return true;
		}
	}
	return false;
}

static struct qa_class_stats row_of(const char *name)
{
	struct qa_class_stats row = {0};

	assert_true(find_row(name, &row));
	check_adds_up(row.held_bytes, row.used_bytes, row.cached_bytes,
		      (uint64_t[]){row.thread_bytes, row.partial_bytes, row.empty_bytes, row.slack_bytes});
	return row;
}

static void test_a_pool_has_its_own_row(void **state)
{
	(void)state;
	enum { BLOCKS = 5000 };
	static void *blocks[BLOCKS];
	struct qa_class_stats class_before = check_row(56), row = {0};
	struct qa_pool *pool = qa_pool_create("sessions", 50, 8);

	assert_non_null(pool);
	row = row_of("sessions");
	assert_int_equal(row.block_size, 56);
	assert_int_equal(row.held_bytes, 0);
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = qa_pool_alloc(pool);
		assert_int_equal(qa_usable_size(blocks[i]), 56);
		pattern_write(blocks[i], 56, 1);
	}
	row = row_of("sessions");
	assert_int_equal(row.used_blocks, BLOCKS);
	assert_int_equal(row.used_bytes, BLOCKS * 56);
	assert_int_equal(row.allocs, BLOCKS);
	assert_int_equal(row.frees, 0);
	assert_int_equal(check_row(56).allocs, class_before.allocs);
	for (int i = 0; i < BLOCKS; i++) {
		pattern_check(blocks[i], 56, 1);
		if (i % 2)
			qa_pool_free(pool, blocks[i]);
		else
			qa_free(blocks[i]);
	}
	qa_pool_free(pool, NULL);
	row = row_of("sessions");
	assert_int_equal(row.used_blocks, 0);
	assert_int_equal(row.frees, BLOCKS);
	assert_true(row.cached_bytes > 0);
	assert_int_equal(qa_trim(NULL, NULL), 0);
	assert_int_equal(row_of("sessions").held_bytes, 0);
	assert_int_equal(qa_pool_destroy(pool), 0);
	assert_false(find_row("sessions", &row));
}

static void test_what_is_refused(void **state)
{
	(void)state;
	char name[70];
	struct qa_pool *pool = qa_pool_create("one", 100, 16), *again;

	memset(name, 'x', sizeof name);
	name[65] = '\0';
	assert_non_null(pool);
	errno = 0;
	assert_null(qa_pool_create("one", 24, 8));
	assert_int_equal(errno, EEXIST);
	static const struct {
		size_t size, align;
	} wrong[] = {{0, 8}, {QA_POOL_BLOCK_MAX + 1, 8}, {10, 0}, {10, 24}, {10, 8192}};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		errno = 0;
		assert_null(qa_pool_create("two", wrong[i].size, wrong[i].align));
		assert_int_equal(errno, EINVAL);
	}
	assert_null(qa_pool_create("", 10, 8));
	assert_null(qa_pool_create(NULL, 10, 8));
	assert_null(qa_pool_create(name, 10, 8));
	name[64] = '\0';
	again = qa_pool_create(name, 10, 8);
	assert_non_null(again);
	assert_int_equal(qa_pool_destroy(again), 0);
	assert_int_equal(qa_pool_destroy(NULL), 0);

	void *block = qa_pool_alloc(pool);
	assert_int_equal(qa_pool_destroy(pool), -EBUSY);
	assert_int_equal(row_of("one").used_blocks, 1);
	qa_pool_free(pool, block);
	assert_int_equal(qa_pool_destroy(pool), 0);
}

static void *allocate_and_free(void *pool)
{
	void *blocks[300];

	for (int i = 0; i < 300; i++)
		blocks[i] = qa_pool_alloc(pool);
	for (int i = 0; i < 300; i++)
		qa_pool_free(pool, blocks[i]);
	return NULL;
}

static void test_a_class_serves_the_next_pool(void **state)
{
	(void)state;
	static const size_t sizes[] = {24, 4000, 104, 32768, 8};

	for (int round = 0; round < 50; round++) {
		size_t size = sizes[round % COUNT(sizes)];
		struct qa_pool *pool = qa_pool_create("reused", size, 8);
		pthread_t thread;
		assert_non_null(pool);
		allocate_and_free(pool);
		pthread_create(&thread, NULL, allocate_and_free, pool);
		pthread_join(thread, NULL);
		void *block = qa_pool_alloc(pool);
		pattern_write(block, size, 3);
		struct qa_class_stats row = row_of("reused");
		assert_int_equal(row.block_size, (size + 7) / 8 * 8);
		assert_int_equal(row.allocs, 601);
		assert_int_equal(row.frees, 600);
		assert_int_equal(row.used_blocks, 1);
		pattern_check(block, size, 3);
		qa_pool_free(pool, block);
		assert_int_equal(qa_pool_destroy(pool), 0);
	}
	assert_int_equal(qa_trim(NULL, NULL), 0);
	struct qa_stats stats;
	qa_stats(&stats, NULL, 0);
	assert_int_equal(stats.held_bytes, 0);
}

static void test_as_many_as_promised(void **state)
{
	(void)state;
	static struct qa_pool *pools[QA_POOLS_MAX];
	static void *blocks[QA_POOLS_MAX];
	char name[16];

	for (int i = 0; i < QA_POOLS_MAX; i++) {
		snprintf(name, sizeof name, "pool %d", i);
		pools[i] = qa_pool_create(name, (size_t)i * 37 + 1, 16);
		assert_non_null(pools[i]);
		blocks[i] = qa_pool_alloc(pools[i]);
		pattern_write(blocks[i], (size_t)i * 37 + 1, 6);
	}
	errno = 0;
	assert_null(qa_pool_create("one more", 10, 8));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(qa_trim(NULL, NULL), 0);
	for (int i = 0; i < QA_POOLS_MAX; i++) {
		snprintf(name, sizeof name, "pool %d", i);
		assert_int_equal(row_of(name).used_blocks, 1);
		pattern_check(blocks[i], (size_t)i * 37 + 1, 6);
		qa_free(blocks[i]);
		assert_int_equal(qa_pool_destroy(pools[i]), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pool_has_its_own_row),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_a_class_serves_the_next_pool),
		cmocka_unit_test(test_as_many_as_promised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
