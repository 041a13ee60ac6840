/*
 * Threads that come and go: they leave nothing behind, whatever they do at their end, however they end, and while
 * another thread trims all the time.
 */
#include "stress.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { AT_ONCE = 16, LEFT = 10 };

static void *left[AT_ONCE][LEFT]; /* blocks that a thread leaves for the main one to free */

static size_t size_of(int i)
{
	return 24u << (i % 10);
}

/* Allocates and frees in many classes, and leaves some blocks. */
static void *short_life(void *argument)
{
	void **mine = argument, *blocks[40];

	for (size_t i = 0; i < COUNT(blocks); i++)
		stress_fill(blocks[i] = qa_malloc(size_of((int)i)), size_of((int)i), 1);
	for (size_t i = 0; i < COUNT(blocks); i++) {
		stress_check(blocks[i], size_of((int)i), 1);
		qa_free(blocks[i]);
	}
	for (int i = 0; i < LEFT; i++)
		stress_fill(mine[i] = qa_malloc(size_of(i)), size_of(i), 2);
	return NULL;
}

static void run_threads(void *(*body)(void *), int count)
{
	pthread_t threads[AT_ONCE];
	for (int done = 0; done < count; done += AT_ONCE) {
		for (int i = 0; i < AT_ONCE; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, body, left[i]), 0);
		for (int i = 0; i < AT_ONCE; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		for (int i = 0; i < AT_ONCE; i++) {
			for (int j = 0; j < LEFT; j++) {
				if (left[i][j])
					stress_check(left[i][j], size_of(j), 2);
				qa_free(left[i][j]);
				left[i][j] = NULL;
			}
		}
	}
}

static void nothing_is_left(void)
{
	struct qa_stats stats = stress_figures();
	assert_int_equal(stats.used_bytes, 0);
	assert_int_equal(stats.allocs, stats.frees);
	assert_in_range(stats.threads, 0, 1);
	assert_int_equal(qa_trim(NULL, NULL), 0);
	assert_int_equal(stress_figures().held_bytes, 0);
}

static void test_ten_thousand_threads(void **state)
{
	(void)state;
	run_threads(short_life, 500);
	unsigned heaps = stress_heaps(), mappings = stress_count_lines("/proc/self/maps");
	unsigned fds = stress_count_entries("/proc/self/fd");
	run_threads(short_life, TIMES(10000, 1000));
	assert_in_range(heaps, 0, AT_ONCE + 1);
	assert_in_range(stress_heaps(), 0, AT_ONCE + 1);
	assert_int_equal(stress_count_entries("/proc/self/fd"), fds);
	/* The kernel may join or part some, and a sanitizer maps for itself; a leak would be one a thread. */
	assert_in_range(stress_count_lines("/proc/self/maps"), 1, mappings + 100);
	nothing_is_left();
}

void thread_local_touch(void);

static pthread_key_t key;
static __thread int rounds;

/* In all rounds that the C library makes; ThreadSanitizer does not follow a thread in the last two. */
enum { ROUNDS = TIMES(PTHREAD_DESTRUCTOR_ITERATIONS, 2) };

static void key_end(void *block)
{
	void *next = qa_malloc(300);
	stress_check(block, 300, 3);
	qa_free(block);
	if (++rounds < ROUNDS) {
		stress_fill(next, 300, 3);
		pthread_setspecific(key, next);
	} else {
		qa_free(next);
	}
}

static void *with_destructors(void *argument)
{
	void *block = qa_malloc(300);
	stress_fill(block, 300, 3);
	pthread_setspecific(key, block);
	thread_local_touch();
	return short_life(argument);
}

/* Its first allocation is in a destructor. */
static void *only_destructors(void *argument)
{
	(void)argument;
	thread_local_touch();
	return NULL;
}

static void test_destructors(void **state)
{
	(void)state;
	assert_int_equal(pthread_key_create(&key, key_end), 0);
	run_threads(with_destructors, TIMES(2000, 200));
	run_threads(only_destructors, TIMES(500, 50));
	pthread_key_delete(key);
	nothing_is_left();
}

struct cancelled {
	sem_t is_running;
	void *blocks[100];
	int count;
	uint64_t random;
};

static void free_cancelled(void *argument)
{
	struct cancelled *c = argument;
	for (int i = 0; i < c->count; i++)
		qa_free(c->blocks[i]);
	qa_free(c);
}

static void *until_cancelled(void *argument)
{
	struct cancelled *c = argument;

	pthread_cleanup_push(free_cancelled, c);
	for (unsigned step = 0;; step++) {
		if (c->count < (int)COUNT(c->blocks) && stress_random(&c->random) % 2)
			c->blocks[c->count++] = qa_malloc(1 + stress_random(&c->random) % 5000);
		else if (c->count > 0)
			qa_free(c->blocks[--c->count]);
		if (step == 100)
			sem_post(&c->is_running);
		pthread_testcancel();
	}
	pthread_cleanup_pop(1);
	return NULL;
}

static void test_cancellation(void **state)
{
	(void)state;
	for (int round = 0; round < TIMES(100, 10); round++) {
		pthread_t threads[4];
		struct cancelled *c[4];
		for (int i = 0; i < 4; i++) {
			c[i] = qa_calloc(1, sizeof *c[i]);
			sem_init(&c[i]->is_running, 0, 0);
			pthread_create(&threads[i], NULL, until_cancelled, c[i]);
		}
		for (int i = 0; i < 4; i++)
			sem_wait(&c[i]->is_running);
		for (int i = 0; i < 4; i++)
			pthread_cancel(threads[i]);
		for (int i = 0; i < 4; i++) {
			void *result;
			pthread_join(threads[i], &result);
			assert_ptr_equal(result, PTHREAD_CANCELED);
		}
	}
	nothing_is_left();
}

static atomic_bool is_over;

static void *trim_on_and_on(void *argument)
{
	uint64_t *trims = argument;
	while (!atomic_load(&is_over)) {
		qa_trim(NULL, NULL);
		stress_figures();
		++*trims;
	}
	return NULL;
}

static void test_ends_while_it_is_drained(void **state)
{
	(void)state;
	pthread_t trimmers[2];
	uint64_t trims[2] = {0};

	atomic_store(&is_over, false);
	for (int i = 0; i < 2; i++)
		pthread_create(&trimmers[i], NULL, trim_on_and_on, &trims[i]);
	pthread_key_create(&key, key_end);
	run_threads(with_destructors, TIMES(3000, 300));
	run_threads(short_life, TIMES(3000, 300));
	pthread_key_delete(key);
	atomic_store(&is_over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(trimmers[i], NULL);
	assert_true(trims[0] > 0 && trims[1] > 0);
	nothing_is_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ten_thousand_threads),
		cmocka_unit_test(test_destructors),
		cmocka_unit_test(test_cancellation),
		cmocka_unit_test(test_ends_while_it_is_drained),
	};
	stress_watch(170);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
