/*
 * Large blocks in many threads at once: they are made, made longer and shorter, handed over and freed, while others
 * trim, read the figures and fork. No two overlap, contents stay, the figures of a forked child are right, and at the
 * end nothing is held.
 */
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { KIB = 1 << 10, MIB = 1 << 20, THREADS = 8, SLOTS = 16, FORKS = TIMES(15, 3), OS_PAGE = 4096 };
enum { SIZE_MIN = 33 * KIB, SIZES = 500 * KIB, KEPT = 8 };

struct buffer {
	unsigned char *bytes;
	size_t size;
};

static atomic_bool is_over;
static atomic_int busy;
static struct buffer slots[SLOTS];               /* filled by one thread, emptied by another */
static _Atomic(struct buffer *) exchange[SLOTS]; /* NULL: a thread works on that one */
static struct buffer own;                        /* of the one who forks */

/* The first byte of every OS page says whose it is. */
static void mark(const struct buffer *buffer)
{
	for (size_t i = 0; i < buffer->size; i += OS_PAGE)
		buffer->bytes[i] = (unsigned char)((uintptr_t)buffer ^ i / OS_PAGE);
}

static void check(const struct buffer *buffer, size_t size)
{
	for (size_t i = 0; i < size; i += OS_PAGE)
		expect_equal(buffer->bytes[i], (unsigned char)((uintptr_t)buffer ^ i / OS_PAGE));
}

static size_t a_size(uint64_t *random)
{
	return SIZE_MIN + stress_random(random) % SIZES;
}

static void make(struct buffer *buffer, uint64_t *random)
{
	buffer->size = a_size(random);
	switch (stress_random(random) % 4) {
	case 0:
		buffer->bytes = qa_calloc(1, buffer->size);
		for (size_t i = 0; i < buffer->size; i += 509)
			expect_equal(buffer->bytes[i], 0);
		break;
	case 1:
		buffer->bytes = qa_aligned_alloc((size_t)1 << (12 + stress_random(random) % 8), buffer->size);
		break;
	default:
		buffer->bytes = qa_malloc(buffer->size);
	}
	expect_true(buffer->bytes != NULL);
	mark(buffer);
}

static void resize(struct buffer *buffer, uint64_t *random)
{
	size_t old_size = buffer->size, size = a_size(random);
	unsigned char *bytes = qa_realloc(buffer->bytes, size);
	expect_true(bytes != NULL);
	*buffer = (struct buffer){bytes, size};
	check(buffer, size < old_size ? size : old_size);
	mark(buffer);
}

static void drop(struct buffer *buffer)
{
	check(buffer, buffer->size);
	qa_free(buffer->bytes);
	buffer->bytes = NULL;
}

/* Frees what another thread made, or makes what another one will free. */
static void hand_over(unsigned slot, uint64_t *random)
{
	struct buffer *buffer = atomic_exchange(&exchange[slot], NULL);
	if (!buffer)
		return;
	if (buffer->bytes)
		drop(buffer);
	else
		make(buffer, random);
	atomic_store(&exchange[slot], buffer);
}

static void *churn(void *argument)
{
	uint64_t random = (uintptr_t)argument;
	struct buffer kept[KEPT] = {{NULL, 0}};

	atomic_fetch_add(&busy, 1);
	while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
		struct buffer *buffer = &kept[stress_random(&random) % KEPT];
		if (!buffer->bytes)
			make(buffer, &random);
		else if (stress_random(&random) % 2)
			resize(buffer, &random);
		else
			drop(buffer);
		hand_over(stress_random(&random) % SLOTS, &random);
	}
	for (int i = 0; i < KEPT; i++)
		if (kept[i].bytes)
			drop(&kept[i]);
	return NULL;
}

/* All of it, or down to so much. */
static void *trim(void *argument)
{
	uint64_t random = (uintptr_t)argument;

	atomic_fetch_add(&busy, 1);
	while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
		struct qa_trim_options options = {.size = sizeof options,
						  .keep_bytes = (uint64_t)stress_random(&random) % 4 * MIB};
		expect_equal(qa_trim(&options, NULL), 0);
		stress_figures();
		sched_yield();
	}
	return NULL;
}

/* Alone in the child: every figure is exact. What the others had there is lost to it, but neither wrong nor touched. */
static void child(void)
{
	struct qa_class_stats before = stress_row(0);
	uint64_t random = 5;

	expect_equal(before.allocs - before.frees, before.used_blocks);
	check(&own, own.size);
	qa_free(own.bytes);
	expect_equal(stress_row(0).used_blocks, before.used_blocks - 1);
	for (int i = 0; i < 50; i++) {
		struct buffer buffer;
		make(&buffer, &random);
		resize(&buffer, &random);
		drop(&buffer);
	}
	expect_equal(qa_trim(NULL, NULL), 0);
	struct qa_class_stats after = stress_row(0);
	expect_equal(after.held_bytes, after.used_bytes);
	expect_equal(after.used_blocks, before.used_blocks - 1);
	expect_at_most(after.used_blocks, THREADS * KEPT + SLOTS);
}

static void run(void)
{
	pthread_t threads[THREADS + 1];
	uint64_t random = 3;

	for (int i = 0; i < SLOTS; i++)
		atomic_store(&exchange[i], &slots[i]);
	make(&own, &random);
	for (uintptr_t i = 0; i <= THREADS; i++)
		expect_equal(pthread_create(&threads[i], NULL, i < THREADS ? churn : trim, (void *)(i + 1)), 0);
	while (atomic_load(&busy) <= THREADS)
		sched_yield();
	for (int i = 0; i < FORKS; i++)
		stress_in_child(child);
	atomic_store(&is_over, true);
	for (int i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].bytes)
			drop(&slots[i]);
	drop(&own);
	expect_equal(stress_row(0).used_blocks, 0);
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(stress_figures().held_bytes, 0);
}

static const struct stress_case cases[] = {
	{"as it comes", run, NULL, "QA_CHECK=off"},        {"small pages", run, NULL, "QA_PAGE_SIZE=4KiB"},
	{"large pages", run, NULL, "QA_PAGE_SIZE=1MiB"},   {"nothing kept", run, NULL, "QA_LARGE_CACHE=0"},
	{"little kept", run, NULL, "QA_LARGE_CACHE=1MiB"},
};

int main(int argc, char **argv)
{
	return stress_main(argc, argv, cases, COUNT(cases));
}
