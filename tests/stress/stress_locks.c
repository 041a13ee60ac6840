/*
 * What several threads do at once and each takes locks for: pools are made and destroyed, trims run, the process
 * forks; chunks are unmapped while others map the same addresses. None waits for ever, and the figures are right after.
 */
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared.h"

static atomic_bool is_over;

static void *trim_on_and_on(void *argument)
{
	(void)argument;
	while (!atomic_load(&is_over))
		qa_trim(NULL, NULL);
	return NULL;
}

static void *read_on_and_on(void *argument)
{
	(void)argument;
	while (!atomic_load(&is_over))
		stress_figures();
	return NULL;
}

/* A name of its own; each pool is used and destroyed. */
static void *make_pools(void *argument)
{
	char name[32];
	snprintf(name, sizeof name, "pool %p", argument);
	for (int i = 0; i < TIMES(3000, 300); i++) {
		size_t size = 16u << (i % 8);
		struct qa_pool *pool = qa_pool_create(name, size, 16);
		expect_true(pool != NULL);
		void *blocks[50];
		for (size_t j = 0; j < COUNT(blocks); j++)
			stress_fill(blocks[j] = qa_pool_alloc(pool), size, 3);
		for (size_t j = 0; j < COUNT(blocks); j++) {
			stress_check(blocks[j], size, 3);
			qa_pool_free(pool, blocks[j]);
		}
		expect_equal(qa_pool_destroy(pool), 0);
	}
	return NULL;
}

static void check_child(void)
{
	stress_figures();
	qa_free(qa_malloc(100));
	expect_equal(qa_trim(NULL, NULL), 0);
}

static void test_pools_trims_and_forks(void **state)
{
	(void)state;
	pthread_t threads[4];

	atomic_store(&is_over, false);
	pthread_create(&threads[0], NULL, trim_on_and_on, NULL);
	pthread_create(&threads[1], NULL, read_on_and_on, NULL);
	pthread_create(&threads[2], NULL, make_pools, (void *)1);
	pthread_create(&threads[3], NULL, make_pools, (void *)2);
	for (int i = 0; i < TIMES(100, 20); i++)
		stress_in_child(check_child);
	for (int i = 2; i < 4; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&is_over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	qa_trim(NULL, NULL);
	expect_equal(stress_figures().held_bytes, 0);
}

enum { CHUNK_BYTES = 2 << 20 };

static atomic_bool is_trimming;

static void *trim_once(void *argument)
{
	(void)argument;
	qa_trim(NULL, NULL);
	atomic_store(&is_trimming, false);
	return NULL;
}

static uint64_t held_bytes(void)
{
	struct qa_stats stats;
	qa_stats(&stats, NULL, 0);
	return stats.held_bytes;
}

enum { TRIM_BLOCKS = TIMES(100, 50) * CHUNK_BYTES / (16 << 10) };

/* How often a pool could be made and destroyed in the middle of a trim; with each fourth block left, in partly used
 * pages. */
static unsigned turns_during_a_trim(void **blocks, bool is_fourth_left)
{
	unsigned turns = 0;
	pthread_t thread;

	for (int i = 0; i < TRIM_BLOCKS; i++)
		stress_fill(blocks[i] = qa_malloc(16 << 10), 16 << 10, 1);
	for (int i = 0; i < TRIM_BLOCKS; i++)
		if (!is_fourth_left || i % 4 != 0)
			qa_free(blocks[i]);
	uint64_t all_bytes = held_bytes();
	atomic_store(&is_trimming, true);
	pthread_create(&thread, NULL, trim_once, NULL);
	while (atomic_load(&is_trimming)) {
		struct qa_pool *pool = qa_pool_create("in between", 64, 8);
		qa_pool_free(pool, qa_pool_alloc(pool));
		expect_equal(qa_pool_destroy(pool), 0);
		uint64_t bytes = held_bytes();
		turns += bytes > all_bytes / 3 && bytes < all_bytes / 10 * 9;
	}
	pthread_join(thread, NULL);
	for (int i = 0; i < TRIM_BLOCKS; i++)
		if (is_fourth_left && i % 4 == 0)
			qa_free(blocks[i]);
	return turns;
}

/*
 * A trim of many chunks, and what wants its lock meanwhile gets its turn: it does not wait until all is returned. On a
 * busy machine this thread may sleep through a trim, so there are some; one turn may be a look at figures alone.
 */
static void test_a_long_trim_gives_way(void **state)
{
	(void)state;
	enum { TURNS = 4, TRIMS = 50 };
	void **blocks = calloc(TRIM_BLOCKS, sizeof *blocks);

	for (int kind = 0; kind < 2; kind++) {
		unsigned turns = 0;
		for (int i = 0; i < TRIMS && turns < TURNS; i++)
			turns = turns_during_a_trim(blocks, kind == 1);
		expect_true(turns >= TURNS);
	}
	free(blocks);
	qa_trim(NULL, NULL);
	expect_equal(stress_figures().held_bytes, 0);
}

/* Fills chunks and leaves them empty, so that trims unmap them. */
static void *fill_chunks(void *argument)
{
	enum { BLOCKS = 4 * CHUNK_BYTES / (16 << 10) };
	void **blocks = calloc(BLOCKS, sizeof *blocks);
	(void)argument;
	for (int round = 0; round < TIMES(3000, 100); round++) {
		for (int i = 0; i < BLOCKS; i++)
			stress_fill(blocks[i] = qa_malloc(16 << 10), 64, 1);
		for (int i = 0; i < BLOCKS; i++) {
			stress_check(blocks[i], 64, 1);
			qa_free(blocks[i]);
		}
	}
	free(blocks);
	return NULL;
}

/* Maps as much as a chunk has, to be given the addresses of one. */
static void *map_large(void *argument)
{
	(void)argument;
	void *blocks[8] = {NULL};
	for (int i = 0; i < TIMES(40000, 4000); i++) {
		void **place = &blocks[i % 8];
		if (*place)
			stress_check(*place, 256, 2);
		qa_free(*place);
		*place = qa_malloc(i % 3 == 0 ? CHUNK_BYTES : 64 << 10);
		stress_fill(*place, 256, 2);
	}
	for (int i = 0; i < 8; i++)
		qa_free(blocks[i]);
	return NULL;
}

static void test_addresses_that_change_hands(void **state)
{
	(void)state;
	pthread_t threads[4];

	atomic_store(&is_over, false);
	pthread_create(&threads[0], NULL, trim_on_and_on, NULL);
	pthread_create(&threads[1], NULL, fill_chunks, NULL);
	pthread_create(&threads[2], NULL, fill_chunks, NULL);
	pthread_create(&threads[3], NULL, map_large, NULL);
	for (int i = 1; i < 4; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&is_over, true);
	pthread_join(threads[0], NULL);
	qa_trim(NULL, NULL);
	struct qa_stats stats = stress_figures();
	expect_equal(stats.used_bytes, 0);
	expect_equal(stats.held_bytes, 0);
	expect_equal(stats.allocs, stats.frees);
}

int __real_munmap(void *address, size_t size_bytes);
int __wrap_munmap(void *address, size_t size_bytes);

enum { TAKEN = 2 * CHUNK_BYTES / (32 << 10) };
static bool is_taken_at_once;
static void *taken[TAKEN];

/* Linked in the place of munmap: addresses of a chunk become other pages before the caller goes on. */
int __wrap_munmap(void *address, size_t size_bytes)
{
	int result = __real_munmap(address, size_bytes);
	if (!is_taken_at_once || size_bytes != CHUNK_BYTES)
		return result;
	is_taken_at_once = false;
	bool is_same = false;
	for (int i = 0; i < TAKEN; i++) {
		stress_fill(taken[i] = qa_malloc(32 << 10), 32 << 10, 4);
		is_same |= (uintptr_t)taken[i] / CHUNK_BYTES == (uintptr_t)address / CHUNK_BYTES;
	}
	expect_true(is_same);
	return result;
}

static void test_addresses_taken_at_once(void **state)
{
	(void)state;
	void *blocks[100];

	qa_trim(NULL, NULL);
	for (size_t i = 0; i < COUNT(blocks); i++)
		stress_fill(blocks[i] = qa_malloc(1000), 1000, 1);
	for (size_t i = 0; i < COUNT(blocks); i++)
		qa_free(blocks[i]);
	is_taken_at_once = true;
	qa_trim(NULL, NULL);
	assert_false(is_taken_at_once); /* a chunk was unmapped */
	assert_int_equal(stress_row(1024).held_bytes, 0);
	assert_int_equal(stress_row(32 << 10).used_blocks, TAKEN);
	for (int i = 0; i < TAKEN; i++) {
		stress_check(taken[i], 32 << 10, 4);
		qa_free(taken[i]);
	}
	qa_trim(NULL, NULL);
	assert_int_equal(stress_figures().held_bytes, 0);
}

static atomic_int its_tid;
static atomic_bool has_block;

static void *take_direct(void *argument)
{
	(void)argument;
	atomic_store(&its_tid, gettid());
	void *block = shared_take_direct(qa_class_of_(100));
	atomic_store(&has_block, true);
	shared_give_direct(qa_class_of_(100), block);
	return NULL;
}

static bool is_asleep(int tid)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	bool is_read = fgets(text, sizeof text, file) != NULL;
	fclose(file);
	const char *name_end = is_read ? strrchr(text, ')') : NULL;
	return name_end && name_end[2] == 'S';
}

/* Between close and open, as around a fork, nobody gets at the pages; then all go on. */
static void test_the_gate(void **state)
{
	(void)state;
	pthread_t thread;

	stress_figures();
	shared_close_all();
	pthread_create(&thread, NULL, take_direct, NULL);
	while (atomic_load(&its_tid) == 0 || (!atomic_load(&has_block) && !is_asleep(atomic_load(&its_tid))))
		sched_yield();
	bool is_kept_out = !atomic_load(&has_block);
	shared_open_all(false);
	pthread_join(thread, NULL);
	assert_true(is_kept_out);
	assert_true(atomic_load(&has_block));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_that_change_hands),
		cmocka_unit_test(test_addresses_taken_at_once),
		cmocka_unit_test(test_the_gate),
		cmocka_unit_test(test_pools_trims_and_forks),
		cmocka_unit_test(test_a_long_trim_gives_way),
	};
	stress_watch(170);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
