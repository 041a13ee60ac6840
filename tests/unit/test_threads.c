/*
 * Threads: figures stay exact whoever frees, another thread's trim reaches sleeping and ended threads, and nothing is
 * lost or doubled while threads work at full speed and others trim and read.
 */
#include "qa_check.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "heap.h"
#include "trim_lock.h"

enum { BLOCKS = 5000 };

static void *blocks[BLOCKS];

static void *allocate_all(void *argument)
{
	(void)argument;
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = qa_malloc(200);
		pattern_write(blocks[i], 200, 3);
	}
	return NULL;
}

static void *free_all(void *argument)
{
	(void)argument;
	for (int i = 0; i < BLOCKS; i++) {
		pattern_check(blocks[i], 200, 3);
		qa_free(blocks[i]);
	}
	return NULL;
}

static void run(void *(*body)(void *))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_allocated_here_freed_there(void **state)
{
	(void)state;
	struct qa_class_stats before = check_row(208);

	run(allocate_all);
	assert_int_equal(check_row(208).used_blocks, before.used_blocks + BLOCKS);
	run(free_all);
	assert_int_equal(check_row(208).used_blocks, before.used_blocks);
	allocate_all(NULL);
	run(free_all);
	run(allocate_all);
	free_all(NULL);
	struct qa_class_stats after = check_row(208);
	assert_int_equal(after.used_blocks, before.used_blocks);
	assert_int_equal(after.allocs, before.allocs + 3 * BLOCKS);
	assert_int_equal(after.frees, before.frees + 3 * BLOCKS);
	assert_int_equal(qa_trim(NULL, NULL), 0);
	assert_int_equal(check_row(208).held_bytes, 0);
}

static int sleep_pipe[2];
static sem_t is_asleep;

/* Fills its cache, then sleeps in read(2). */
static void *cache_and_sleep(void *argument)
{
	void *mine[300];
	char byte;
	(void)argument;

	for (int i = 0; i < 300; i++)
		mine[i] = qa_malloc(400);
	for (int i = 0; i < 300; i++)
		qa_free(mine[i]);
	sem_post(&is_asleep);
	ssize_t got = read(sleep_pipe[0], &byte, 1);
	(void)got;
	for (int i = 0; i < 300; i++) { /* its emptied heap still works */
		mine[i] = qa_malloc(400);
		pattern_write(mine[i], 400, 5);
	}
	for (int i = 0; i < 300; i++) {
		pattern_check(mine[i], 400, 5);
		qa_free(mine[i]);
	}
	return NULL;
}

static void test_trim_reaches_sleeping_threads(void **state)
{
	(void)state;
	enum { SLEEPERS = 8 };
	pthread_t threads[SLEEPERS];
	struct qa_trim_result result;

	assert_int_equal(pipe(sleep_pipe), 0);
	sem_init(&is_asleep, 0, 0);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_create(&threads[i], NULL, cache_and_sleep, NULL);
	for (int i = 0; i < SLEEPERS; i++)
		sem_wait(&is_asleep);
	assert_true(check_row(416).thread_bytes > 0);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.threads_skipped, 0);
	struct qa_class_stats row = check_row(416);
	assert_int_equal(row.thread_bytes, 0);
	assert_int_equal(row.held_bytes, 0);
	assert_int_equal(write(sleep_pipe[1], "12345678", SLEEPERS), SLEEPERS);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(check_row(416).held_bytes, 0);
	close(sleep_pipe[0]);
	close(sleep_pipe[1]);
}

static atomic_bool is_over;
static _Atomic uintptr_t exchange[256]; /* blocks of 72 bytes handed from thread to thread */

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

/* Allocates a block with a pattern and puts it where another thread may take it; checks and frees what was there. */
static void *churn(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	void *spot[256] = {NULL};
	unsigned size_of[256] = {0};

	for (unsigned step = 0; step < TIMES(300000, 30000); step++) {
		unsigned i = next_random(&seed) % 256, size = 16 + next_random(&seed) % (step % 50 == 0 ? 40000 : 1000);
		unsigned *block = qa_malloc(size);
		pattern_write(block, size, size);
		if (spot[i]) {
			pattern_check(spot[i], size_of[i], size_of[i]);
			qa_free(spot[i]);
		}
		spot[i] = block;
		size_of[i] = size;
		if (step % 4 == 0) {
			/* only blocks of one size travel, so that one word is enough */
			void *mine = qa_alloc(72, 8);
			pattern_write(mine, 72, 9);
			void *other = (void *)atomic_exchange(&exchange[i], (uintptr_t)mine);
			if (other) {
				pattern_check(other, 72, 9);
				qa_dealloc(other, 72, 8);
			}
		}
	}
	for (int i = 0; i < 256; i++) {
		if (spot[i])
			pattern_check(spot[i], size_of[i], size_of[i]);
		qa_free(spot[i]);
	}
	return NULL;
}

static void *trim_on_and_on(void *argument)
{
	(void)argument;
	while (!atomic_load(&is_over))
		qa_trim(NULL, NULL);
	return NULL;
}

static void test_trim_and_statistics_under_load(void **state)
{
	(void)state;
	enum { WORKERS = 4 };
	pthread_t workers[WORKERS], trimmer;
	struct qa_stats stats;
	struct qa_class_stats rows[QA_CHECK_ROWS];

	atomic_store(&is_over, false);
	pthread_create(&trimmer, NULL, trim_on_and_on, NULL);
	for (uintptr_t i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, churn, (void *)(i + 1));
	for (int i = 0; i < TIMES(2000, 200); i++)
		check_stats(&stats, rows);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	atomic_store(&is_over, true);
	pthread_join(trimmer, NULL);
	for (int i = 0; i < 256; i++) {
		void *left = (void *)atomic_exchange(&exchange[i], 0);
		if (left)
			pattern_check(left, 72, 9);
		qa_dealloc(left, 72, 8);
	}
	qa_trim(NULL, NULL);
	check_stats(&stats, rows);
	assert_int_equal(stats.used_bytes, 0);
	assert_int_equal(stats.held_bytes, 0);
	assert_int_equal(stats.allocs, stats.frees);
}

static pthread_key_t late_key;
static __thread int late_runs;

/* Runs in three rounds of the thread's destructors; libqa's own runs in the first, so the others come after it. */
static void late_destructor(void *block)
{
	qa_free(block);
	void *next = qa_malloc(136);
	pattern_write(next, 136, 1);
	pattern_check(next, 136, 1);
	qa_free(next);
	if (++late_runs < 3)
		pthread_setspecific(late_key, qa_malloc(136));
}

static void *end_late(void *argument)
{
	(void)argument;
	pthread_setspecific(late_key, qa_malloc(136));
	return NULL;
}

static void test_destructors_after_the_end(void **state)
{
	(void)state;
	enum { THREADS = 10 };
	struct qa_class_stats before = check_row(144);

	assert_int_equal(pthread_key_create(&late_key, late_destructor), 0);
	for (int i = 0; i < THREADS; i++)
		run(end_late);
	pthread_key_delete(late_key);
	struct qa_class_stats after = check_row(144);
	assert_int_equal(after.used_blocks, before.used_blocks);
	assert_int_equal(after.allocs, before.allocs + THREADS * 6);
	assert_int_equal(after.frees, before.frees + THREADS * 6);
}

static void test_threads_reuse_heaps(void **state)
{
	(void)state;
	unsigned heaps = 0, heaps_after = 0;

	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		heaps++;
	for (int i = 0; i < TIMES(300, 40); i++)
		run(i % 2 == 0 ? allocate_all : free_all);
	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		heaps_after++;
	assert_true(heaps_after <= heaps + 1);
	struct qa_stats stats;
	qa_stats(&stats, NULL, 0);
	assert_int_equal(stats.threads, 1);
}

static void test_a_stopped_heap_does_not_stop_its_owner(void **state)
{
	(void)state;
	struct heap *heap = heap_current();
	void *mine[1000];

	qa_free(qa_malloc(300));
	/* another thread's drainer at work, as this thread sees it */
	trim_lock();
	assert_true(heap_stop(heap));
	struct qa_class_stats before = check_row(320);
	for (int i = 0; i < 1000; i++) {
		mine[i] = qa_malloc(300);
		pattern_write(mine[i], 300, 2);
	}
	for (int i = 0; i < 1000; i++) {
		pattern_check(mine[i], 300, 2);
		qa_free(mine[i]);
	}
	struct qa_class_stats after = check_row(320);
	assert_int_equal(after.used_blocks, before.used_blocks);
	assert_int_equal(after.thread_bytes, before.thread_bytes);
	assert_int_equal(after.allocs, before.allocs + 1000);
	assert_int_equal(after.frees, before.frees + 1000);
	heap_resume(heap);
	trim_unlock();
	qa_free(qa_malloc(300));
	assert_int_equal(check_row(320).used_blocks, before.used_blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocated_here_freed_there),
		cmocka_unit_test(test_trim_reaches_sleeping_threads),
		cmocka_unit_test(test_trim_and_statistics_under_load),
		cmocka_unit_test(test_destructors_after_the_end),
		cmocka_unit_test(test_threads_reuse_heaps),
		cmocka_unit_test(test_a_stopped_heap_does_not_stop_its_owner),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
