/*
 * Forks from a program whose threads are all inside libqa: the child has whole figures of its own, works, and finds in
 * the caches of threads that it does not have what lay there.
 */
#include "stress.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, SLOTS = 64, OWN = 100, OWN_BYTES = 12 << 10 };
enum { CHILD_LOST_CACHES = 3 };

static atomic_bool is_over;
static atomic_int started;
static _Atomic uintptr_t exchange[SLOTS]; /* blocks of 64 bytes on their way between threads */
static void *own[OWN];                    /* of a class that only the main thread uses */

/* Small blocks, kept a while; some are freed by other threads. */
static void *churn(void *argument)
{
	uint64_t random = (uintptr_t)argument;
	void *kept[SLOTS] = {NULL};

	for (unsigned step = 0; !atomic_load_explicit(&is_over, memory_order_relaxed); step++) {
		unsigned i = stress_random(&random) % SLOTS;
		qa_free(kept[i]);
		kept[i] = qa_malloc(1 + stress_random(&random) % 2000);
		stress_fill(kept[i], 1, i);
		void *mine = qa_alloc(64, 8);
		stress_fill(mine, 64, 5);
		void *other = (void *)atomic_exchange(&exchange[i], (uintptr_t)mine);
		if (other)
			stress_check(other, 64, 5);
		qa_dealloc(other, 64, 8);
		if (step == 1000)
			atomic_fetch_add(&started, 1);
		if (step % 16 == 15) /* so that those who fork get a turn */
			sched_yield();
	}
	for (int i = 0; i < SLOTS; i++)
		qa_free(kept[i]);
	return NULL;
}

static pthread_t threads[THREADS];

static void start_threads(void)
{
	atomic_store(&is_over, false);
	atomic_store(&started, 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
	while (atomic_load(&started) < THREADS)
		sched_yield();
}

static void end_threads(void)
{
	atomic_store(&is_over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		qa_dealloc((void *)atomic_exchange(&exchange[i], 0), 64, 8);
}

/* The child's only thread: every figure is exact from here on. */
static void use_all_classes(void)
{
	static void *blocks[300];
	uint64_t random = 7;
	struct qa_stats before = stress_figures();

	for (size_t i = 0; i < COUNT(blocks); i++) {
		size_t size = 1 + stress_random(&random) % 3000;
		stress_fill(blocks[i] = qa_malloc(size), size, 1);
	}
	struct qa_stats between = stress_figures();
	expect_equal(between.allocs, before.allocs + COUNT(blocks));
	expect_at_most(before.used_bytes, between.used_bytes);
	random = 7;
	for (size_t i = 0; i < COUNT(blocks); i++) {
		stress_check(blocks[i], 1 + stress_random(&random) % 3000, 1);
		qa_free(blocks[i]);
	}
	struct qa_stats after = stress_figures();
	expect_equal(after.used_bytes, before.used_bytes);
	expect_equal(after.frees, before.frees + COUNT(blocks));
}

static void trim_leaves_nothing(void)
{
	struct qa_trim_result result;
	struct qa_stats before = stress_figures();

	expect_equal(qa_trim(NULL, &result), 0);
	expect_equal(result.threads_skipped, 0);
	struct qa_stats after = stress_figures();
	expect_equal(after.used_bytes, before.used_bytes);
	expect_equal(after.thread_bytes, 0);
	expect_equal(after.empty_bytes, 0);
}

/* What main had is there, and goes. */
static void use_own(void)
{
	expect_equal(stress_row(OWN_BYTES).used_blocks, OWN);
	for (int i = 0; i < OWN; i++) {
		stress_check(own[i], OWN_BYTES, 9);
		qa_free(own[i]);
	}
	expect_equal(stress_row(OWN_BYTES).used_blocks, 0);
}

/*
 * At most what the threads hold is used by the program: their slots, and some operations in flight. More was in caches
 * that the child lost, since their owner was inside at every look.
 */
static bool has_lost_caches(void)
{
	uint64_t most = THREADS * SLOTS + SLOTS + OWN, used = 0;
	struct qa_stats total;
	struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	size_t count = qa_stats(&total, rows, QA_STATS_ROWS_MAX);

	for (size_t i = 0; i < count; i++)
		used += rows[i].used_blocks;
	return used > most + most / 4;
}

static void child(void)
{
	bool is_less = has_lost_caches();
	expect_at_most(stress_figures().threads, 1); /* none: no caches, with AddressSanitizer */
	use_own();
	use_all_classes();
	trim_leaves_nothing();
	use_all_classes();
	_exit(is_less ? CHILD_LOST_CACHES : 0);
}

static void test_a_thousand_forks(void **state)
{
	(void)state;
	enum { FORKS = TIMES(1000, 50) };
	int lost = 0;

	for (int i = 0; i < OWN; i++)
		stress_fill(own[i] = qa_malloc(OWN_BYTES), OWN_BYTES, 9);
	start_threads();
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			alarm(TIMES(60, 100));
			child();
		}
		int code = stress_wait(pid);
		if (code == CHILD_LOST_CACHES)
			lost++;
		else
			assert_int_equal(code, 0);
	}
	end_threads();
	use_own();
	assert_in_range(lost, 0, FORKS / 10);
	qa_trim(NULL, NULL);
	assert_int_equal(stress_figures().held_bytes, 0);
}

static void grandchild(void)
{
	use_all_classes();
	trim_leaves_nothing();
}

/* The child has threads of its own, and forks from them. */
static void child_with_threads(void)
{
	start_threads();
	for (int i = 0; i < 10; i++)
		stress_in_child(grandchild);
	end_threads();
	trim_leaves_nothing();
}

static void test_a_child_forks(void **state)
{
	(void)state;
	if (!SANITIZED_TSAN) /* which can not start a thread in the child of a parent that has some */
		start_threads();
	for (int i = 0; i < TIMES(5, 2); i++)
		stress_in_child(child_with_threads);
	if (!SANITIZED_TSAN)
		end_threads();
}

static void *fork_and_wait(void *argument)
{
	(void)argument;
	for (int i = 0; i < TIMES(25, 3); i++)
		stress_in_child(grandchild);
	return NULL;
}

static void *trim_on_and_on(void *argument)
{
	(void)argument;
	while (!atomic_load(&is_over))
		qa_trim(NULL, NULL);
	return NULL;
}

static void test_several_threads_fork_while_one_trims(void **state)
{
	(void)state;
	pthread_t forkers[4], trimmer;

	start_threads();
	pthread_create(&trimmer, NULL, trim_on_and_on, NULL);
	for (size_t i = 0; i < COUNT(forkers); i++)
		pthread_create(&forkers[i], NULL, fork_and_wait, NULL);
	for (size_t i = 0; i < COUNT(forkers); i++)
		pthread_join(forkers[i], NULL);
	end_threads();
	pthread_join(trimmer, NULL);
	qa_trim(NULL, NULL);
	assert_int_equal(stress_figures().held_bytes, 0);
}

extern char **environ;

/* Neither runs fork handlers; the parent's memory is used until the exec. */
static void test_spawn_and_vfork(void **state)
{
	(void)state;
	start_threads();
	for (int i = 0; i < TIMES(100, 10); i++) {
		pid_t pid;
		void *block = qa_malloc(OWN_BYTES);
		stress_fill(block, OWN_BYTES, 2);
		assert_int_equal(posix_spawn(&pid, "/bin/true", NULL, NULL, (char *[]){"true", NULL}, environ), 0);
		assert_int_equal(stress_wait(pid), 0);
		pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): what vfork does is the question */
		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		assert_true(pid > 0);
		assert_int_equal(stress_wait(pid), 0);
		stress_check(block, OWN_BYTES, 2);
		qa_free(block);
	}
	end_threads();
	qa_trim(NULL, NULL);
	assert_int_equal(stress_figures().held_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thousand_forks),
		cmocka_unit_test(test_a_child_forks),
		cmocka_unit_test(test_several_threads_fork_while_one_trims),
		cmocka_unit_test(test_spawn_and_vfork),
	};
	stress_watch(170);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
