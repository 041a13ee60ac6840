/*
 * Trim of a part: one class or pool and no other, never below the floor, and options of older and newer programs.
 */
#include "qa_check.h"

#include <errno.h>
#include <pthread.h>

enum { BLOCKS = 20000 };

static struct qa_pool *pool;
static void *blocks[BLOCKS];

/* Cached bytes in a class of 48 bytes, one of 1,024 and a pool; nothing used. */
static void fill(void)
{
	static const size_t sizes[] = {48, 1024};
	for (size_t k = 0; k < COUNT(sizes); k++) {
		for (int i = 0; i < BLOCKS; i++)
			assert_non_null(blocks[i] = qa_malloc(sizes[k]));
		for (int i = 0; i < BLOCKS; i++)
			qa_free(blocks[i]);
	}
	for (int i = 0; i < BLOCKS; i++)
		assert_non_null(blocks[i] = qa_pool_alloc(pool));
	for (int i = 0; i < BLOCKS; i++)
		qa_pool_free(pool, blocks[i]);
}

static int set_up(void **state)
{
	(void)state;
	pool = qa_pool_create("nodes", 96, 8);
	return pool ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return qa_pool_destroy(pool);
}

static uint64_t cached(void)
{
	struct qa_stats stats;
	qa_stats(&stats, NULL, 0);
	return stats.cached_bytes;
}

static uint64_t pool_held(void)
{
	static struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	struct qa_stats stats;
	size_t count = qa_stats(&stats, rows, QA_STATS_ROWS_MAX);
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].name, "nodes") == 0)
			return rows[i].held_bytes;
	fail_msg("no row of the pool");
	return 0;
}

static struct qa_trim_result trim(struct qa_trim_options options)
{
	struct qa_trim_result result;
	options.size = sizeof options;
	assert_int_equal(qa_trim(&options, &result), 0);
	assert_int_equal(result.held_before_bytes - result.held_after_bytes, result.returned_bytes);
	assert_int_equal(result.threads_skipped, 0);
	return result;
}

static void test_one_class(void **state)
{
	(void)state;
	fill();
	uint64_t other = check_row(1024).held_bytes, in_pool = pool_held(), held = check_row(48).held_bytes;
	struct qa_trim_result result = trim((struct qa_trim_options){.block_size = 48});
	assert_int_equal(result.held_before_bytes, held);
	assert_int_equal(result.returned_bytes, held);
	assert_int_equal(check_row(48).held_bytes, 0);
	assert_int_equal(check_row(1024).held_bytes, other);
	assert_int_equal(pool_held(), in_pool);
}

static void test_one_pool(void **state)
{
	(void)state;
	fill();
	uint64_t class_48 = check_row(48).held_bytes, held = pool_held();
	struct qa_trim_result result = trim((struct qa_trim_options){.pool = "nodes"});
	assert_int_equal(result.returned_bytes, held);
	assert_int_equal(pool_held(), 0);
	assert_int_equal(check_row(48).held_bytes, class_48);
}

static void test_a_floor_is_kept(void **state)
{
	(void)state;
	static const uint64_t floors[] = {UINT64_MAX, 20 << 20, 5000000, 1 << 20, 100000, 1};
	fill();
	for (size_t i = 0; i < COUNT(floors); i++) {
		uint64_t before = cached();
		struct qa_trim_result result = trim((struct qa_trim_options){.keep_bytes = floors[i]});
		uint64_t floor = before < floors[i] ? before : floors[i];
		assert_int_equal(result.cached_before_bytes, before);
		assert_true(cached() >= floor);
		assert_true(cached() < floor + (1 << 20)); /* no more is left than the largest page */
	}
	trim((struct qa_trim_options){0});
	assert_int_equal(cached(), 0);
}

/* What caches and holes have is looked after, too. */
static void test_a_floor_with_blocks_in_use(void **state)
{
	(void)state;
	for (int i = 0; i < BLOCKS; i++)
		assert_non_null(blocks[i] = qa_malloc(1024));
	for (int i = 0; i < BLOCKS; i++)
		if (i % 16)
			qa_free(blocks[i]);
	uint64_t before = check_row(1024).cached_bytes;
	trim((struct qa_trim_options){.block_size = 1024, .keep_bytes = before / 2});
	uint64_t after = check_row(1024).cached_bytes;
	assert_true(after >= before / 2);
	assert_true(after < before / 2 + (1 << 20));
	for (int i = 0; i < BLOCKS; i += 16)
		qa_free(blocks[i]);
	trim((struct qa_trim_options){0});
	assert_int_equal(cached(), 0);
}

static void test_what_is_refused(void **state)
{
	(void)state;
	struct qa_trim_options options = {.size = sizeof options, .block_size = 47};
	assert_int_equal(qa_trim(&options, NULL), -ENOENT);
	options = (struct qa_trim_options){.size = sizeof options, .pool = "no such"};
	assert_int_equal(qa_trim(&options, NULL), -ENOENT);
	options = (struct qa_trim_options){.size = sizeof options, .pool = ""};
	assert_int_equal(qa_trim(&options, NULL), -ENOENT);
	options = (struct qa_trim_options){.size = sizeof options, .pool = "nodes", .block_size = 48};
	assert_int_equal(qa_trim(&options, NULL), -EINVAL);
	options = (struct qa_trim_options){.size = sizeof options, .flags = 1};
	assert_int_equal(qa_trim(&options, NULL), -EINVAL);
}

/* A program that was built before has a shorter struct, one that is built later a longer one. */
static void test_versions_of_the_options(void **state)
{
	(void)state;
	struct {
		struct qa_trim_options options;
		uint64_t later;
	} longer = {.options = {.size = sizeof longer}};
	struct qa_trim_options shorter = {.size = 8, .block_size = 47};
	struct qa_trim_result result;

	fill();
	assert_int_equal(qa_trim(&shorter, &result), 0);
	assert_true(result.returned_bytes > 0);
	fill();
	assert_int_equal(qa_trim(&longer.options, &result), 0);
	assert_true(result.returned_bytes > 0);
	longer.later = 1;
	assert_int_equal(qa_trim(&longer.options, &result), -EINVAL);
	shorter.size = 4;
	assert_int_equal(qa_trim(&shorter, &result), -EINVAL);
}

static void *make_pools(void *unused)
{
	(void)unused;
	for (int i = 0; i < 300; i++) {
		struct qa_pool *other = qa_pool_create("brief", 64, 8);
		assert_non_null(other);
		qa_pool_free(other, qa_pool_alloc(other));
		assert_int_equal(qa_pool_destroy(other), 0);
	}
	return NULL;
}

/* Both need the pools' lock and trim's, and take them in one order. */
static void test_trims_while_pools_come_and_go(void **state)
{
	(void)state;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, make_pools, NULL), 0);
	struct qa_trim_options options = {.size = sizeof options, .pool = "brief"};
	for (int i = 0; i < 300; i++) {
		int error = qa_trim(&options, NULL);
		assert_true(error == 0 || error == -ENOENT);
		assert_int_equal(qa_trim(NULL, NULL), 0);
	}
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_class, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_pool, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_floor_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_floor_with_blocks_in_use, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_versions_of_the_options, set_up, tear_down),
		cmocka_unit_test(test_trims_while_pools_come_and_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
