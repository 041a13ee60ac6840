/*
 * One thread replaces blocks at random in a live set and takes the time of each allocation. Another thread allocates
 * and frees some MiB, again and again, and in every other turn also trims each time. So both kinds of turns have the
 * same company, and a slow minute of the machine hits both.
 */
#include "child.h"
#include "qa.h"
#include "trim_delay.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define SLOTS 20000u
#define SIZE_MIN 16u
#define SIZE_SPAN 497u /* sizes up to 512 */
#define WASTE_BLOCK_BYTES 256u

struct measured {
	struct histogram *histogram; /* atomic: the other thread says where to count; NULL: end */
	struct histogram *counting;  /* atomic: where something has been counted */
	bool wants_fifo, is_fifo;
	uint64_t random;
	char *blocks[SLOTS];
};

static char *timed_alloc(struct measured *measured, struct histogram *histogram)
{
	size_t size = SIZE_MIN + (size_t)(child_random(&measured->random) >> 32) % SIZE_SPAN;
	uint64_t start = child_now_ns();
	char *block = (char *)qa_malloc(size);
	uint64_t end = child_now_ns();
	child_check(block != NULL, "out of memory");
	child_use(block);
	histogram_add(histogram, end - start);
	return block;
}

static void *replace_blocks(void *context)
{
	struct measured *measured = (struct measured *)context;
	const struct sched_param priority = {.sched_priority = 1};
	struct histogram *histogram;
	measured->is_fifo = measured->wants_fifo && pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) == 0;
	/* Pairs with the releases in turn_to and trim_delay_measure: a histogram is empty before it is shown. */
	while ((histogram = __atomic_load_n(&measured->histogram, __ATOMIC_ACQUIRE)) != NULL) {
		char **block = &measured->blocks[(child_random(&measured->random) >> 32) % SLOTS];
		qa_free(*block);
		*block = timed_alloc(measured, histogram);
		__atomic_store_n(&measured->counting, histogram, __ATOMIC_RELEASE);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		qa_free(measured->blocks[i]);
	return NULL;
}

static void waste(char **blocks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		blocks[i] = (char *)qa_malloc(WASTE_BLOCK_BYTES);
		child_check(blocks[i] != NULL, "out of memory");
		child_use(blocks[i]);
	}
	for (size_t i = 0; i < count; i++)
		qa_free(blocks[i]);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

struct trimmer {
	const struct delay_options *options;
	struct delay_result *result;
	char **blocks;
	double *trims_ms;
	unsigned trims;
};

static void trim_once(struct trimmer *trimmer)
{
	struct qa_trim_result trimmed;
	uint64_t start = child_now_ns();
	child_check(qa_trim(NULL, &trimmed) == 0, "qa_trim failed");
	trimmer->trims_ms[trimmer->trims++] = (double)(child_now_ns() - start) / 1e6;
	trimmer->result->threads_skipped += trimmed.threads_skipped;
}

/* Returns when the measured thread counts there: a turn without a count would say nothing. */
static void turn_to(struct measured *measured, struct histogram *histogram)
{
	__atomic_store_n(&measured->histogram, histogram, __ATOMIC_RELEASE);
	while (__atomic_load_n(&measured->counting, __ATOMIC_ACQUIRE) != histogram)
		sched_yield();
}

/* A turn with trims, then one without that lasts as long. */
static void two_turns(struct trimmer *trimmer, struct measured *measured)
{
	size_t blocks = trimmer->options->waste_bytes / WASTE_BLOCK_BYTES;
	unsigned end = trimmer->trims + trimmer->options->trims_a_turn;
	if (end > trimmer->options->trims)
		end = trimmer->options->trims;
	turn_to(measured, &trimmer->result->with);
	uint64_t start = child_now_ns();
	while (trimmer->trims < end) {
		waste(trimmer->blocks, blocks);
		trim_once(trimmer);
	}
	uint64_t duration = child_now_ns() - start;
	turn_to(measured, &trimmer->result->without);
	start = child_now_ns();
	do
		waste(trimmer->blocks, blocks);
	while (child_now_ns() - start < duration);
}

void trim_delay_measure(const struct delay_options *options, struct delay_result *result)
{
	static struct histogram warm_up;
	pthread_t thread;
	struct measured *measured = (struct measured *)child_map(sizeof *measured);
	struct trimmer trimmer = {options, result,
				  (char **)child_map(options->waste_bytes / WASTE_BLOCK_BYTES * sizeof(char *) + 1),
				  (double *)child_map(options->trims * sizeof(double)), 0};
	measured->histogram = &warm_up;
	measured->wants_fifo = options->is_fifo;
	measured->random = 0x9e3779b97f4a7c15u;
	child_check(pthread_create(&thread, NULL, replace_blocks, measured) == 0, "cannot create a thread");
	waste(trimmer.blocks, options->waste_bytes / WASTE_BLOCK_BYTES);
	while (trimmer.trims < options->trims)
		two_turns(&trimmer, measured);
	__atomic_store_n(&measured->histogram, NULL, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	qsort(trimmer.trims_ms, trimmer.trims, sizeof trimmer.trims_ms[0], compare_doubles);
	result->trim_ms = trimmer.trims_ms[trimmer.trims / 2];
	result->is_fifo = measured->is_fifo;
}
