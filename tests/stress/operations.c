/*
 * Bytes become operations with no way to say a wrong one, so that a fuzzer may try all; sizes lean to the small. Each
 * block is filled with one byte value; that no two overlap follows from that, and is checked by address too.
 */
#include "operations.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page_map.h"
#include "qa.h"
#include "size_class.h"
#include "stress.h"

enum { MALLOC_ALIGN = 16, LIVE_MAX = 4096, POOLS = 4, THREADS = 4, OS_PAGE = 4096 };
enum family { MALLOC, RESIZED, SIZED, POOL };

struct live {
	unsigned char *block;
	size_t size, align;
	uint64_t class_bytes; /* the row it counts in: its usable size; 0 in the row of large blocks; not of a pool */
	uint64_t usable, extent; /* with the guard that checks and tools put behind it */
	enum family family;
	unsigned pool;
	unsigned char fill;
};

struct operation {
	unsigned kind, thread, amount, choice;
};

static struct live live[LIVE_MAX];
static size_t live_count;
static struct qa_pool *pools[POOLS];
static size_t pool_bytes[POOLS];
static bool may_fork;

static void pool_name(unsigned pool, char name[32])
{
	snprintf(name, 32, "operations %u", pool);
}

static void content_check(const struct live *l)
{
	if (l->size == 0)
		return;
	expect_equal(l->block[0], l->fill);
	expect_equal(memcmp(l->block, l->block + 1, l->size - 1), 0);
}

static void content_write(struct live *l)
{
	static unsigned char next;
	l->fill = ++next;
	memset(l->block, l->fill, l->size);
}

static uint64_t extent_of(const void *block, size_t usable)
{
	unsigned kind = page_map_kind(block);
	return kind == QA_CLASS_LARGE_ ? usable : size_classes[kind].block_size;
}

/* A new block joins the table. */
static void live_add(void *block, size_t size, size_t align, enum family family, unsigned pool)
{
	expect_true(block != NULL);
	expect_equal((uintptr_t)block % align, 0);
	size_t usable = qa_usable_size(block);
	expect_at_most(size, usable);
	live[live_count] = (struct live){
		.block = block,
		.size = size,
		.align = align,
		.class_bytes = usable > (32 << 10) || align > OS_PAGE ? 0 : usable,
		.usable = usable,
		.extent = extent_of(block, usable),
		.family = family,
		.pool = pool,
	};
	content_write(&live[live_count++]);
}

static void live_remove(size_t i)
{
	live[i] = live[--live_count];
}

static size_t a_size(const struct operation *o)
{
	static const unsigned limits[] = {64, 64, 256, 256, 1024, 1024, 5000, 33000};
	if (o->choice % 64 == 63)
		return o->amount * 8;
	return o->amount % limits[o->choice % 8];
}

static void do_malloc(const struct operation *o)
{
	if (live_count < LIVE_MAX)
		live_add(qa_malloc(a_size(o)), a_size(o), MALLOC_ALIGN, MALLOC, 0);
}

static void do_calloc(const struct operation *o)
{
	if (live_count == LIVE_MAX)
		return;
	size_t size = a_size(o);
	unsigned char *block = qa_calloc(1, size);
	for (size_t i = 0; i < size; i++)
		expect_equal(block[i], 0);
	live_add(block, size, MALLOC_ALIGN, MALLOC, 0);
}

/* The size is not known to the compiler; for some it is. */
static void do_sized(const struct operation *o)
{
	size_t size = a_size(o), align = (size_t)1 << o->choice / 8 % 16;
	if (live_count == LIVE_MAX)
		return;
	if (o->choice == 0)
		live_add(qa_alloc(24, 8), 24, 8, SIZED, 0);
	else
		live_add(qa_alloc(size, align), size, align, SIZED, 0);
}

static void do_burst(const struct operation *o)
{
	size_t size = 8 + o->choice * 5;
	for (unsigned i = 0; i < o->amount % 200 && live_count < LIVE_MAX; i++)
		live_add(qa_alloc(size, 8), size, 8, SIZED, 0);
}

static void do_realloc(const struct operation *o)
{
	if (live_count == 0)
		return;
	size_t i = o->amount * 37 % live_count, size = a_size(o) + 1;
	struct live old = live[i];
	if (old.family == POOL)
		return;
	content_check(&old);
	unsigned char *moved = qa_realloc(old.block, size);
	expect_true(moved != NULL);
	struct live kept = old;
	kept.block = moved;
	kept.size = size < old.size ? size : old.size;
	content_check(&kept);
	live_remove(i);
	live_add(moved, size, MALLOC_ALIGN, RESIZED, 0);
}

/* One way in two: as generally, or as specially as its family allows. */
static void free_one(size_t i, bool is_special)
{
	struct live *l = &live[i];
	content_check(l);
	if (is_special && l->family == POOL)
		qa_pool_free(pools[l->pool], l->block);
	else if (is_special && l->family == SIZED)
		qa_dealloc(l->block, l->size, l->align);
	else if (is_special && l->family == MALLOC)
		qa_free_sized(l->block, l->size);
	else
		qa_free(l->block);
	live_remove(i);
}

static void do_free(const struct operation *o)
{
	if (live_count > 0)
		free_one(o->amount % live_count, o->choice % 2);
}

/* Most blocks in a row, or all but some. */
static void do_sweep(const struct operation *o)
{
	unsigned step = 1 + o->choice % 16, left = o->amount % 500;
	for (size_t i = live_count; i-- > 0 && left > 0;) {
		if (i % step == 0)
			continue;
		free_one(i, i % 2);
		left--;
	}
}

static size_t pool_live(unsigned pool)
{
	size_t count = 0;
	for (size_t i = 0; i < live_count; i++)
		count += live[i].family == POOL && live[i].pool == pool;
	return count;
}

static void do_pool_create(const struct operation *o)
{
	unsigned pool = o->choice % POOLS;
	char name[32];
	pool_name(pool, name);
	size_t size = 1 + o->amount % (o->choice % 2 ? 200 : 3000);
	struct qa_pool *made = qa_pool_create(name, size, 8);
	if (pools[pool]) {
		expect_true(made == NULL && errno == EEXIST);
		return;
	}
	expect_true(made != NULL);
	pools[pool] = made;
	pool_bytes[pool] = size;
}

static void do_pool_alloc(const struct operation *o)
{
	unsigned pool = o->choice % POOLS;
	if (!pools[pool])
		return;
	for (unsigned i = 0; i < 1 + o->amount % 50 && live_count < LIVE_MAX; i++)
		live_add(qa_pool_alloc(pools[pool]), pool_bytes[pool], 8, POOL, pool);
}

static void do_pool_destroy(const struct operation *o)
{
	unsigned pool = o->choice % POOLS;
	if (!pools[pool])
		return;
	bool is_used = pool_live(pool) > 0;
	expect_equal(qa_pool_destroy(pools[pool]), is_used ? -EBUSY : 0);
	if (!is_used)
		pools[pool] = NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct live *left = a, *right = b;
	return left->block < right->block ? -1 : left->block > right->block;
}

/* No two overlap. Returns the bytes of OS pages that have a byte of a live block, and large blocks as a whole. */
static uint64_t sort_and_measure(void)
{
	uint64_t bytes = 0;
	uintptr_t behind = 0; /* the first OS page that is not counted yet */
	qsort(live, live_count, sizeof *live, by_address);
	for (size_t i = 0; i < live_count; i++) {
		const struct live *l = &live[i];
		if (i > 0)
			expect_at_most((uintptr_t)live[i - 1].block + live[i - 1].extent, (uintptr_t)l->block);
		uintptr_t first = (uintptr_t)l->block / OS_PAGE,
			  end = ((uintptr_t)l->block + l->extent - 1) / OS_PAGE + 1;
		if (first < behind)
			first = behind;
		bytes += (end - first) * OS_PAGE;
		behind = end;
	}
	return bytes;
}

static void do_trim(const struct operation *o)
{
	struct qa_trim_result result;
	(void)o;
	expect_equal(qa_trim(NULL, &result), 0);
	expect_equal(result.threads_skipped, 0);
	struct qa_stats stats = stress_figures();
	expect_equal(stats.thread_bytes, 0);
	expect_equal(stats.empty_bytes, 0);
	expect_equal(stats.held_bytes, sort_and_measure());
}

/* A pool's row or a class's. */
static bool is_of_row(const struct live *l, const struct qa_class_stats *row)
{
	char name[32] = "";
	if (l->family == POOL)
		pool_name(l->pool, name);
	return strcmp(row->name, name) == 0 && (l->family == POOL || l->class_bytes == row->block_size);
}

static void check_used(void)
{
	static struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	static uint64_t blocks[QA_STATS_ROWS_MAX];
	struct qa_stats total;
	size_t count = qa_stats(&total, rows, QA_STATS_ROWS_MAX);
	uint64_t used_bytes = 0;

	memset(blocks, 0, sizeof blocks);
	for (size_t i = 0, at = 0; i < live_count; i++) {
		while (!is_of_row(&live[i], &rows[at])) /* most often the one of the block before */
			at = (at + 1) % count;
		blocks[at]++;
		used_bytes += live[i].usable;
	}
	for (size_t i = 0; i < count; i++) {
		expect_equal(rows[i].used_blocks, blocks[i]);
		expect_equal(rows[i].allocs - rows[i].frees, blocks[i]);
	}
	expect_equal(total.used_bytes, used_bytes);
	expect_equal(total.allocs - total.frees, live_count);
}

static void check_all(void)
{
	for (size_t i = 0; i < live_count; i++)
		content_check(&live[i]);
	sort_and_measure();
	stress_figures();
	check_used();
}

static void free_all(void)
{
	while (live_count > 0)
		free_one(live_count - 1, live_count % 2);
	for (unsigned pool = 0; pool < POOLS; pool++) {
		expect_equal(qa_pool_destroy(pools[pool]), 0);
		pools[pool] = NULL;
	}
	check_used();
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(stress_figures().held_bytes, 0);
}

static void in_child(void)
{
	check_all();
	do_trim(NULL);
	free_all();
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
		check_used();
		if (i / OPERATION_BYTES % 64 == 0)
			check_all();
	}
	check_all();
	for (int i = 1; i < THREADS; i++)
		worker_end(&workers[i]);
	free_all();
}
