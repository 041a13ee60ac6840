/*
 * What caches of threads keep is bounded, whatever the threads do, and when there are many, all together: by the total
 * that heap.c gives out (32 caches of the full size), besides the batches in the few slots between threads.
 */
#include "stress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "heap.h"
#include "size_class.h"
#include "transfer.h"

enum { THREADS = TIMES(400, 64), ALL_CLASSES = QA_CLASSES_, FULL_CACHES = 32, DEFAULT_BYTES = 2 << 20 };

static pthread_barrier_t barrier;
static pthread_t threads[THREADS];

static void start(void *(*body)(void *))
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		expect_equal(pthread_create(&threads[i], &attributes, body, (void *)i), 0);
	pthread_attr_destroy(&attributes);
}

static void finish(void)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

/* In caches alone, without the slots between threads. */
static uint64_t cached_bytes(void)
{
	uint64_t slots_bytes = 0;
	for (unsigned i = 1; i <= ALL_CLASSES; i++)
		slots_bytes += transfer_blocks(i) * size_classes[i].block_size;
	uint64_t thread_bytes = stress_figures().thread_bytes;
	return thread_bytes > slots_bytes ? thread_bytes - slots_bytes : 0;
}

enum { GIVEN = 300 };
static void *given[THREADS][GIVEN];

static size_t size_of(uintptr_t i)
{
	return size_classes[1 + i % ALL_CLASSES].block_size;
}

/* Allocates for its neighbour, and frees what the one on the other side allocated. */
static void *free_anothers(void *argument)
{
	uintptr_t self = (uintptr_t)argument;
	for (uintptr_t i = 0; i < GIVEN; i++)
		given[self][i] = qa_malloc(size_of(i + self));
	meet();
	uintptr_t other = (self + 1) % THREADS;
	for (uintptr_t i = 0; i < GIVEN; i++)
		qa_free(given[other][i]);
	meet();
	meet();
	return NULL;
}

static void caches_are_bounded(uint64_t total_bytes)
{
	start(free_anothers);
	meet();
	meet();
	expect_at_most(cached_bytes(), total_bytes);
	meet();
	finish();
	expect_equal(stress_figures().used_bytes, 0);
	qa_trim(NULL, NULL);
	expect_equal(stress_figures().held_bytes, 0);
}

/* Fills its cache as far as it goes, in some classes; one after the other, so that the first ones did when alone. */
static void *fill_own_cache(void *argument)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	static void *blocks[20000];
	uintptr_t self = (uintptr_t)argument;
	pthread_mutex_lock(&turn);
	for (int round = 0; round < 4; round++) {
		for (uintptr_t c = 0; c < 12; c++) {
			size_t size = size_of(self + c * 4), count = (256 << 10) / size + 1;
			if (count > COUNT(blocks))
				count = COUNT(blocks);
			for (size_t i = 0; i < count; i++)
				blocks[i] = qa_malloc(size);
			for (size_t i = 0; i < count; i++)
				qa_free(blocks[i]);
		}
	}
	pthread_mutex_unlock(&turn);
	meet();
	/* all are there now: each goes on a little */
	for (uintptr_t c = 0; c < ALL_CLASSES; c++) {
		void *few[100];
		for (int i = 0; i < 100; i++)
			few[i] = qa_malloc(size_of(c));
		for (int i = 0; i < 100; i++)
			qa_free(few[i]);
	}
	meet();
	meet();
	return NULL;
}

static void caches_of_early_threads_shrink(uint64_t total_bytes)
{
	start(fill_own_cache);
	meet();
	meet();
	expect_at_most(cached_bytes(), total_bytes);
	meet();
	finish();
	qa_trim(NULL, NULL);
	expect_equal(stress_figures().held_bytes, 0);
}

enum { MANY = TIMES(300, 40) };
static pthread_barrier_t all_did;

/* Takes one block of each class, in turn after someone left whole batches between the threads. */
static void *take_one_each(void *argument)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	(void)argument;
	void *mine[ALL_CLASSES];
	pthread_mutex_lock(&turn);
	meet();
	for (int i = 0; i < ALL_CLASSES; i++)
		mine[i] = qa_malloc(size_of((uintptr_t)i));
	meet();
	pthread_mutex_unlock(&turn);
	pthread_barrier_wait(&all_did);
	for (int i = 0; i < ALL_CLASSES; i++)
		qa_free(mine[i]);
	return NULL;
}

static void batches_are_taken_within_bounds(uint64_t total_bytes)
{
	static void *blocks[8000];
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_barrier_init(&all_did, NULL, MANY + 1);
	for (int i = 0; i < MANY; i++)
		expect_equal(pthread_create(&threads[i], NULL, take_one_each, NULL), 0);
	for (int turn = 0; turn < MANY; turn++) {
		for (uintptr_t c = 0; c < ALL_CLASSES; c++) {
			size_t count = size_classes[c + 1].batch * 4;
			for (size_t i = 0; i < count; i++)
				blocks[i] = qa_malloc(size_of(c));
			for (size_t i = 0; i < count; i++)
				qa_free(blocks[i]);
		}
		meet();
		meet();
		expect_at_most(cached_bytes(), total_bytes);
	}
	pthread_barrier_wait(&all_did);
	for (int i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	pthread_barrier_destroy(&all_did);
}

static void case_default(void)
{
	stress_figures(); /* size classes are known from now on */
	uint64_t total_bytes = (uint64_t)FULL_CACHES * DEFAULT_BYTES;
	caches_are_bounded(total_bytes);
	caches_of_early_threads_shrink(total_bytes);
	batches_are_taken_within_bounds(total_bytes);
}

static void case_small(void)
{
	stress_figures(); /* size classes are known from now on */
	uint64_t total_bytes = (uint64_t)FULL_CACHES * (64 << 10);
	expect_equal(heap_limit_bytes(), 64 << 10);
	caches_are_bounded(total_bytes);
	caches_of_early_threads_shrink(total_bytes);
	batches_are_taken_within_bounds(total_bytes);
}

/* No caches: what is freed is back in its page at once. */
static void case_none(void)
{
	stress_figures(); /* size classes are known from now on */
	static void *blocks[1000];
	for (size_t i = 0; i < COUNT(blocks); i++)
		stress_fill(blocks[i] = qa_malloc(size_of(i)), size_of(i), 3);
	expect_equal(stress_figures().thread_bytes, 0);
	for (size_t i = 0; i < COUNT(blocks); i++) {
		stress_check(blocks[i], size_of(i), 3);
		qa_free(blocks[i]);
	}
	struct qa_stats stats = stress_figures();
	expect_equal(stats.used_bytes, 0);
	expect_equal(stats.thread_bytes, 0);
	expect_equal(stats.threads, 0);
	expect_equal(stats.allocs, COUNT(blocks));
	expect_equal(stats.frees, COUNT(blocks));
	caches_are_bounded(0);
	expect_equal(stress_heaps(), 0);
}

static const struct stress_case cases[] = {
	{"default", case_default, NULL, NULL},
	{"small", case_small, NULL, "QA_THREAD_CACHE=64K"},
	{"none", case_none, NULL, "QA_THREAD_CACHE=0"},
};

static void test_two_mebibytes_each_by_default(void **state)
{
	(void)state;
	stress_in_program(&cases[0]);
}

static void test_small_caches(void **state)
{
	(void)state;
	stress_in_program(&cases[1]);
}

static void test_no_caches(void **state)
{
	(void)state;
	stress_in_program(&cases[2]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_mebibytes_each_by_default),
		cmocka_unit_test(test_small_caches),
		cmocka_unit_test(test_no_caches),
	};
	stress_run_case(argc, argv, cases, COUNT(cases));
	stress_watch(170);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
