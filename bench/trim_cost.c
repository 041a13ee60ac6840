/*
 * What a trim costs against what the kernel alone would take for the same pages. Blocks are allocated and mostly freed;
 * mincore before and after the trim tells exactly which OS pages it returned. Then a mapping of the benchmark's own is
 * made resident in the same places, and the same runs are given back with one madvise each: that is the kernel's time.
 * Both are processor time of the thread that does it, so that a busy machine adds to neither; and before both the
 * processor's caches are filled with something else, since the kernel is faster with pages that it just made.
 */
#include "child.h"
#include "qa.h"
#include "trim_delay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define OS_PAGE_BYTES ((uintptr_t)4096)
#define HUGE_BYTES ((uintptr_t)2 << 20)
#define SIZE_MIN 16u
#define SIZE_SPAN 497u
#define AVERAGE_BYTES 264u
#define RUN_BLOCKS 200u /* of each hundred runs one survives */
#define SPAN_BYTES_MAX ((uintptr_t)64 << 30)
#define OTHER_BYTES ((uintptr_t)64 << 20)
#define ROUNDS_MAX 101u

enum { PAGE_USED = 1, PAGE_RESIDENT = 2, PAGE_RETURNED = 4 };

struct cost {
	uint64_t random;
	size_t count;
	char **blocks; /* NULL: freed */
	uintptr_t first;
	size_t page_count;
	char *other;          /* what caches are filled with */
	unsigned char *pages; /* from first on: PAGE_... */
	unsigned char *resident;
};

static uint64_t processor_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_survivor(enum cost_survivors kind, size_t i)
{
	if (kind == COST_RUNS)
		return i / RUN_BLOCKS % 100 == 5;
	return kind == COST_HUNDREDTH && i % 100 == 50;
}

static void grow(struct cost *cost)
{
	uintptr_t first = UINTPTR_MAX, last = 0;
	for (size_t i = 0; i < cost->count; i++) {
		size_t size = SIZE_MIN + (size_t)(child_random(&cost->random) >> 32) % SIZE_SPAN;
		char *block = (char *)qa_malloc(size);
		child_check(block != NULL, "out of memory");
		child_use(block);
		block[size - 1] = 1;
		cost->blocks[i] = block;
		first = (uintptr_t)block < first ? (uintptr_t)block : first;
		last = (uintptr_t)block + size > last ? (uintptr_t)block + size : last;
	}
	child_check(last - first <= SPAN_BYTES_MAX, "the blocks are too far apart to look at the pages between them");
	cost->first = first & ~(OS_PAGE_BYTES - 1);
	cost->page_count = (last - cost->first + OS_PAGE_BYTES - 1) / OS_PAGE_BYTES;
	cost->pages = (unsigned char *)child_map(cost->page_count);
	cost->resident = (unsigned char *)child_map(cost->page_count);
	for (size_t i = 0; i < cost->count; i++)
		cost->pages[((uintptr_t)cost->blocks[i] - cost->first) / OS_PAGE_BYTES] = PAGE_USED;
}

/* Ends of a run of pages that have all of the bits; false: no more. */
static bool next_run(const struct cost *cost, unsigned char bits, size_t *begin, size_t *end)
{
	size_t i = *end;
	while (i < cost->page_count && (cost->pages[i] & bits) != bits)
		i++;
	*begin = i;
	while (i < cost->page_count && (cost->pages[i] & bits) == bits)
		i++;
	*end = i;
	return *begin < *end;
}

/* Looks which pages of blocks are resident. What is no longer mapped is not. */
static void look(struct cost *cost)
{
	size_t begin, end = 0;
	while (next_run(cost, PAGE_USED, &begin, &end)) {
		void *address = (void *)(cost->first + begin * OS_PAGE_BYTES);
		if (mincore(address, (end - begin) * OS_PAGE_BYTES, cost->resident + begin) != 0)
			memset(cost->resident + begin, 0, end - begin);
	}
}

static void look_before(struct cost *cost)
{
	look(cost);
	for (size_t i = 0; i < cost->page_count; i++)
		cost->pages[i] |= cost->resident[i] & 1 ? PAGE_RESIDENT : 0;
}

static void look_after(struct cost *cost)
{
	look(cost);
	for (size_t i = 0; i < cost->page_count; i++) {
		if ((cost->pages[i] & PAGE_RESIDENT) && !(cost->resident[i] & 1))
			cost->pages[i] |= PAGE_RETURNED;
	}
}

static void cool(const struct cost *cost)
{
	for (size_t i = 0; i < OTHER_BYTES; i += 64)
		*(volatile char *)(cost->other + i) = 1;
}

/* The kernel's time for the same pages, in a mapping that lies alike in its huge pages. */
static uint64_t madvise_alone_ns(const struct cost *cost, struct cost_result *result)
{
	size_t span = cost->page_count * OS_PAGE_BYTES, begin, end = 0;
	char *mapping = (char *)mmap(NULL, span + 2 * HUGE_BYTES, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	child_check(mapping != MAP_FAILED, "no memory to compare with");
	uintptr_t aligned = ((uintptr_t)mapping + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	char *alike = (char *)(aligned + cost->first % HUGE_BYTES);
	for (size_t i = 0; i < cost->page_count; i++) {
		if (cost->pages[i] & PAGE_RESIDENT)
			*(volatile char *)(alike + i * OS_PAGE_BYTES) = 1;
	}
	result->returned_bytes = result->runs = 0;
	cool(cost);
	uint64_t start = processor_ns();
	while (next_run(cost, PAGE_RETURNED, &begin, &end)) {
		size_t bytes = (end - begin) * OS_PAGE_BYTES;
		child_check(madvise(alike + begin * OS_PAGE_BYTES, bytes, MADV_DONTNEED) == 0, "madvise failed");
		result->returned_bytes += bytes;
		result->runs++;
	}
	uint64_t stop = processor_ns();
	munmap(mapping, span + 2 * HUGE_BYTES);
	return stop - start;
}

static void free_blocks(struct cost *cost, enum cost_survivors kind, bool is_all)
{
	for (size_t i = 0; i < cost->count; i++) {
		if (!cost->blocks[i] || (!is_all && is_survivor(kind, i)))
			continue;
		qa_free(cost->blocks[i]);
		cost->blocks[i] = NULL;
	}
}

static void measure_round(struct cost *cost, enum cost_survivors kind, struct cost_result *result)
{
	grow(cost);
	free_blocks(cost, kind, false);
	look_before(cost);
	cool(cost);
	uint64_t start = processor_ns();
	child_check(qa_trim(NULL, NULL) == 0, "qa_trim failed");
	uint64_t trim_ns = processor_ns() - start;
	look_after(cost);
	uint64_t madvise_ns = madvise_alone_ns(cost, result);
	child_check(result->returned_bytes > 0, "trim returned nothing");
	result->trim_ms = (double)trim_ns / 1e6;
	result->madvise_ms = (double)madvise_ns / 1e6;
	result->ratio = (double)trim_ns / (double)madvise_ns;
	free_blocks(cost, kind, true);
	qa_trim(NULL, NULL);
	munmap(cost->pages, cost->page_count);
	munmap(cost->resident, cost->page_count);
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof values[0], compare_doubles);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void trim_cost_measure(size_t bytes, unsigned rounds, struct cost_result *results)
{
	double trim_ms[COST_KINDS][ROUNDS_MAX], madvise_ms[COST_KINDS][ROUNDS_MAX], ratios[COST_KINDS][ROUNDS_MAX];
	struct cost cost = {.random = 0x9e3779b97f4a7c15u, .count = bytes / AVERAGE_BYTES};
	if (rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	cost.blocks = (char **)child_map(cost.count * sizeof cost.blocks[0]);
	cost.other = (char *)child_map(OTHER_BYTES);
	for (unsigned i = 0; i < rounds; i++) {
		for (unsigned kind = 0; kind < COST_KINDS; kind++) {
			measure_round(&cost, (enum cost_survivors)kind, &results[kind]);
			trim_ms[kind][i] = results[kind].trim_ms;
			madvise_ms[kind][i] = results[kind].madvise_ms;
			ratios[kind][i] = results[kind].ratio;
		}
	}
	for (unsigned kind = 0; kind < COST_KINDS; kind++) {
		results[kind].trim_ms = median(trim_ms[kind], rounds);
		results[kind].madvise_ms = median(madvise_ms[kind], rounds);
		results[kind].ratio = median(ratios[kind], rounds);
	}
}
