/*
 * Where the kernel refuses membarrier, from the start or later: all works; what other threads have cached is shown as
 * out of reach, and they give it back at their next miss.
 */
#include "stress.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap.h"
#include "os.h"

/* From here on membarrier fails with EPERM, in this thread and those that it makes, and in what they execute. */
static void refuse_membarrier(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = COUNT(filter), .filter = filter};
	expect_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	expect_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	errno = 0;
	expect_true(syscall(SYS_membarrier, 0, 0, 0) == -1 && errno == EPERM);
}

enum { BLOCKS = 300, BLOCK_BYTES = 448 };

/* A thread that takes steps when told. */
static sem_t may_go, did;
static struct heap *its_heap;
static struct qa_pool *pool;

static void fill_cache(void)
{
	void *blocks[BLOCKS];
	for (int i = 0; i < BLOCKS; i++)
		stress_fill(blocks[i] = qa_malloc(BLOCK_BYTES), BLOCK_BYTES, 1);
	for (int i = 0; i < BLOCKS; i++) {
		stress_check(blocks[i], BLOCK_BYTES, 1);
		qa_free(blocks[i]);
	}
}

static void step(void (*body)(void))
{
	sem_wait(&may_go);
	body();
	its_heap = heap_if_any();
	sem_post(&did);
}

/* Of a class that it never had. */
static void miss_once(void)
{
	qa_free(qa_malloc(20000));
}

static void use_pool(void)
{
	void *blocks[100];
	for (size_t i = 0; i < COUNT(blocks); i++)
		stress_fill(blocks[i] = qa_pool_alloc(pool), 64, 2);
	for (size_t i = 0; i < COUNT(blocks); i++) {
		stress_check(blocks[i], 64, 2);
		qa_pool_free(pool, blocks[i]);
	}
}

static void *take_steps(void *argument)
{
	(void)argument;
	step(fill_cache);
	step(miss_once);
	step(use_pool);
	step(miss_once);
	step(use_pool);
	return NULL;
}

static void let_it_step(void)
{
	sem_post(&may_go);
	sem_wait(&did);
}

static void what_others_cache_is_out_of_reach(void)
{
	struct qa_trim_result result;

	let_it_step(); /* fill_cache */
	uint64_t cached_bytes = stress_row(BLOCK_BYTES).thread_bytes;
	expect_true(cached_bytes > 0);
	expect_equal(qa_trim(NULL, &result), 0);
	expect_true(!os_has_barrier());
	expect_equal(result.threads_skipped, 1);
	/* batches between threads are in reach */
	uint64_t left_bytes = stress_row(BLOCK_BYTES).thread_bytes;
	expect_true(left_bytes > 0 && left_bytes <= cached_bytes);
	expect_equal(stress_figures().unreachable_bytes, left_bytes);
	expect_equal(stress_figures().used_bytes, 0);
	let_it_step(); /* miss_once */
	expect_equal(stress_row(BLOCK_BYTES).thread_bytes, 0);
	qa_trim(NULL, NULL);
	expect_equal(stress_row(BLOCK_BYTES).held_bytes, 0);
}

static void the_child_works(void)
{
	struct qa_stats before = stress_figures();
	expect_equal(before.threads, heap_if_any() != NULL);
	fill_cache();
	expect_equal(stress_figures().used_bytes, before.used_bytes);
	expect_equal(qa_trim(NULL, NULL), 0);
	struct qa_stats after = stress_figures();
	expect_equal(after.thread_bytes, 0);
	expect_equal(after.unreachable_bytes, 0);
	expect_equal(after.used_bytes, before.used_bytes);
}

/* A class is given to another pool only when no heap counts its blocks in the former size. */
static void pools_wait_for_the_owner(void)
{
	pool = qa_pool_create("first", 64, 8);
	let_it_step(); /* use_pool */
	expect_equal(qa_pool_destroy(pool), -EBUSY);
	let_it_step(); /* miss_once */
	expect_equal(qa_pool_destroy(pool), 0);
	pool = qa_pool_create("second", 4096, 8);
	expect_true(pool != NULL);
	let_it_step(); /* use_pool */
}

static void all_of_it(void)
{
	pthread_t thread;
	sem_init(&may_go, 0, 0);
	sem_init(&did, 0, 0);
	expect_equal(pthread_create(&thread, NULL, take_steps, NULL), 0);
	what_others_cache_is_out_of_reach();
	qa_free(qa_malloc(100));
	stress_in_child(the_child_works);
	pools_wait_for_the_owner();
	stress_in_child(the_child_works);
	pthread_join(thread, NULL);
	expect_equal(its_heap->capacity_bytes, 0);
	qa_trim(NULL, NULL);
	expect_equal(qa_pool_destroy(pool), 0);
	qa_trim(NULL, NULL);
	struct qa_stats stats = stress_figures();
	expect_equal(stats.unreachable_bytes, 0);
	expect_equal(stats.held_bytes, 0);
	expect_equal(stats.allocs, stats.frees);
}

/* Threads at full speed, trims and forks all the while. */
static _Atomic uintptr_t exchange[64];

static void *churn(void *argument)
{
	uint64_t random = (uintptr_t)argument;
	for (int i = 0; i < TIMES(200000, 20000); i++) {
		void *block = qa_malloc(200);
		stress_fill(block, 200, 6);
		void *other = (void *)atomic_exchange(&exchange[stress_random(&random) % 64], (uintptr_t)block);
		if (other)
			stress_check(other, 200, 6);
		qa_free(other);
	}
	return NULL;
}

static void under_load(void)
{
	pthread_t threads[4];
	for (uintptr_t i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, churn, (void *)(i + 1));
	for (int i = 0; i < TIMES(30, 10); i++) {
		qa_trim(NULL, NULL);
		stress_in_child(the_child_works);
	}
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < COUNT(exchange); i++)
		qa_free((void *)exchange[i]);
	qa_trim(NULL, NULL);
	struct qa_stats stats = stress_figures();
	expect_equal(stats.used_bytes, 0);
	expect_equal(stats.held_bytes, 0);
}

static void case_from_the_start(void)
{
	stress_figures();
	expect_true(!os_has_barrier());
	all_of_it();
	under_load();
}

static void case_later(void)
{
	qa_free(qa_malloc(100));
	expect_true(os_has_barrier());
	refuse_membarrier();
	expect_equal(stress_figures().unreachable_bytes, 0);
	all_of_it();
	under_load();
}

/* The first who notices is a fork. */
static void case_later_by_fork(void)
{
	qa_free(qa_malloc(100));
	refuse_membarrier();
	stress_in_child(the_child_works);
	under_load();
	all_of_it();
}

static const struct stress_case cases[] = {
	{"from the start", case_from_the_start, refuse_membarrier, NULL},
	{"later", case_later, NULL, NULL},
	{"later, by fork", case_later_by_fork, NULL, NULL},
};

int main(int argc, char **argv)
{
	return stress_main(argc, argv, cases, COUNT(cases));
}
