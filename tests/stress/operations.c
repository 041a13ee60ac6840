/*
 * Bytes become operations with no way to say a wrong one, so that a fuzzer may try all; sizes lean to the small.
 */
#include "operations.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "model.h"
#include "qa.h"
#include "stress.h"

enum { MALLOC_ALIGN = 16, THREADS = 4 };

struct operation {
	unsigned kind, thread, amount, choice;
};

static bool may_fork;

static size_t a_size(const struct operation *o)
{
	static const unsigned limits[] = {64, 64, 256, 256, 1024, 1024, 5000, 33000};
	if (o->choice % 64 > 60) /* large: up to 128, 256 and 512 KiB */
		return (size_t)o->amount << (o->choice % 64 - 60);
	return o->amount % limits[o->choice % 8];
}

static void do_malloc(const struct operation *o)
{
	if (model.count < MODEL_BLOCKS)
		model_add(qa_malloc(a_size(o)), a_size(o), MALLOC_ALIGN, MALLOC, 0);
}

static void do_calloc(const struct operation *o)
{
	if (model.count == MODEL_BLOCKS)
		return;
	size_t size = a_size(o);
	unsigned char *block = qa_calloc(1, size);
	for (size_t i = 0; i < size; i++)
		expect_equal(block[i], 0);
	model_add(block, size, MALLOC_ALIGN, MALLOC, 0);
}

/* The size is not known to the compiler; for some it is. */
static void do_sized(const struct operation *o)
{
	size_t size = a_size(o), align = (size_t)1 << o->choice / 8 % 16;
	if (model.count == MODEL_BLOCKS)
		return;
	if (o->choice == 0)
		model_add(qa_alloc(24, 8), 24, 8, SIZED, 0);
	else
		model_add(qa_alloc(size, align), size, align, SIZED, 0);
}

static void do_burst(const struct operation *o)
{
	size_t size = 8 + o->choice * 5;
	for (unsigned i = 0; i < o->amount % 200 && model.count < MODEL_BLOCKS; i++)
		model_add(qa_alloc(size, 8), size, 8, SIZED, 0);
}

static void do_realloc(const struct operation *o)
{
	if (model.count == 0)
		return;
	size_t i = o->amount * 37 % model.count, size = a_size(o) + 1;
	struct model_block old = model.live[i];
	if (old.family == POOL)
		return;
	model_content_check(&old);
	unsigned char *moved = qa_realloc(old.block, size);
	expect_true(moved != NULL);
	struct model_block kept = old;
	kept.block = moved;
	kept.size = size < old.size ? size : old.size;
	model_content_check(&kept);
	model_remove(i);
	model_add(moved, size, MALLOC_ALIGN, RESIZED, 0);
}

static void do_free(const struct operation *o)
{
	if (model.count > 0)
		model_free(o->amount % model.count, o->choice % 2);
}

/* Most blocks in a row, or all but some. */
static void do_sweep(const struct operation *o)
{
	unsigned step = 1 + o->choice % 16, left = o->amount % 500;
	for (size_t i = model.count; i-- > 0 && left > 0;) {
		if (i % step == 0)
			continue;
		model_free(i, i % 2);
		left--;
	}
}

static void do_pool_create(const struct operation *o)
{
	unsigned pool = o->choice % MODEL_POOLS;
	char name[32];
	model_pool_name(pool, name);
	size_t size = 1 + o->amount % (o->choice % 2 ? 200 : 3000);
	struct qa_pool *made = qa_pool_create(name, size, 8);
	if (model.pools[pool]) {
		expect_true(made == NULL && errno == EEXIST);
		return;
	}
	expect_true(made != NULL);
	model.pools[pool] = made;
	model.pool_bytes[pool] = size;
}

static void do_pool_alloc(const struct operation *o)
{
	unsigned pool = o->choice % MODEL_POOLS;
	if (!model.pools[pool])
		return;
	for (unsigned i = 0; i < 1 + o->amount % 50 && model.count < MODEL_BLOCKS; i++)
		model_add(qa_pool_alloc(model.pools[pool]), model.pool_bytes[pool], 8, POOL, pool);
}

static void do_pool_destroy(const struct operation *o)
{
	unsigned pool = o->choice % MODEL_POOLS;
	if (!model.pools[pool])
		return;
	bool is_used = model_has_pool_blocks(pool);
	expect_equal(qa_pool_destroy(model.pools[pool]), is_used ? -EBUSY : 0);
	if (!is_used)
		model.pools[pool] = NULL;
}

/* So much stays; all that a trim returns was held. */
static void do_trim_in_part(const struct operation *o)
{
	struct qa_trim_result result;
	struct qa_trim_options options = {.size = sizeof options, .keep_bytes = o->amount * 64};
	expect_equal(qa_trim(&options, &result), 0);
	if (options.keep_bytes < result.cached_before_bytes)
		expect_at_most(options.keep_bytes, result.cached_after_bytes);
	else
		expect_equal(result.cached_after_bytes, result.cached_before_bytes);
	expect_equal(result.returned_bytes, result.held_before_bytes - result.held_after_bytes);
	expect_equal(result.held_after_bytes, stress_figures().held_bytes);
}

static void do_trim(const struct operation *o)
{
	struct qa_trim_result result;
	if (o && o->choice % 4 == 1) {
		do_trim_in_part(o);
		return;
	}
	expect_equal(qa_trim(NULL, &result), 0);
	expect_equal(result.threads_skipped, 0);
	struct qa_stats stats = stress_figures();
	expect_equal(stats.thread_bytes, 0);
	expect_equal(stats.empty_bytes, 0);
	expect_equal(stats.held_bytes, model_sort_and_measure());
}

static void in_child(void)
{
	model_check();
	do_trim(NULL);
	model_free_all();
}

static void do_fork(const struct operation *o)
{
	(void)o;
	if (may_fork)
		stress_in_child(in_child);
}

static void do_nothing(const struct operation *o)
{
	(void)o; /* what is done at this step is not done by its thread: it ends */
}

enum { THREAD_END = 15 };

static void (*const kinds[16])(const struct operation *) = {
	do_malloc, do_malloc, do_calloc, do_sized,       do_sized,      do_burst,        do_realloc, do_realloc,
	do_free,   do_free,   do_sweep,  do_pool_create, do_pool_alloc, do_pool_destroy, do_trim,    do_nothing,
};

/* The first thread is the caller's. Another one does what it is handed and ends when that is nothing. */
static struct worker {
	pthread_t thread;
	bool is_running;
	const struct operation *operation;
	sem_t may_go, did;
} workers[THREADS];

/* A signal interrupts sem_wait: libFuzzer has an alarm every few seconds, without SA_RESTART. */
static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		expect_equal(errno, EINTR);
}

static void *work(void *argument)
{
	struct worker *w = argument;
	for (;;) {
		await(&w->may_go);
		if (!w->operation)
			return NULL;
		kinds[w->operation->kind](w->operation);
		sem_post(&w->did);
	}
}

static void worker_end(struct worker *w)
{
	if (!w->is_running)
		return;
	w->operation = NULL;
	sem_post(&w->may_go);
	pthread_join(w->thread, NULL);
	sem_destroy(&w->may_go);
	sem_destroy(&w->did);
	w->is_running = false;
}

static void worker_do(struct worker *w, const struct operation *operation)
{
	if (!w->is_running) {
		sem_init(&w->may_go, 0, 0);
		sem_init(&w->did, 0, 0);
		expect_equal(pthread_create(&w->thread, NULL, work, w), 0);
		w->is_running = true;
	}
	w->operation = operation;
	sem_post(&w->may_go);
	await(&w->did);
}

static void step(const struct operation *o)
{
	if (o->kind == THREAD_END && o->thread == 0)
		do_fork(o);
	else if (o->kind == THREAD_END)
		worker_end(&workers[o->thread]);
	else if (o->thread == 0)
		kinds[o->kind](o);
	else
		worker_do(&workers[o->thread], o);
}

void operations_run(const uint8_t *bytes, size_t size, bool with_forks)
{
	may_fork = with_forks;
	for (size_t i = 0; i + OPERATION_BYTES <= size; i += OPERATION_BYTES) {
		struct operation o = {
			.kind = bytes[i] % 16,
			.thread = bytes[i] / 16 % THREADS,
			.amount = bytes[i + 1] | (unsigned)bytes[i + 2] << 8,
			.choice = bytes[i + 3],
		};
		step(&o);
		model_check_used();
		if (i / OPERATION_BYTES % 64 == 0)
			model_check();
	}
	model_check();
	for (int i = 1; i < THREADS; i++)
		worker_end(&workers[i]);
	model_free_all();
}
