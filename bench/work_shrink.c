/*
 * Growth and shrink: blocks of mixed sizes up to a peak, then 99 % of them freed, then all that the allocator offers to
 * give memory back. The survivors stand in runs, are every hundredth, or chosen at random. What is then resident is
 * compared with the OS pages that hold a byte of a survivor, counted from the blocks' addresses and usable sizes: no
 * allocator that does not move blocks can do with less. Time is that of growth and shrink, without the trim.
 */
#include "adapter.h"
#include "work.h"

#include <stdlib.h>

#define SIZE_MIN 16u
#define SIZE_MAX_ 512u
#define OS_PAGE_BYTES 4096u
#define RUN_BLOCKS 200u /* of each hundred runs one survives */
#define BLOCKS_PER_MS 5000u
#define BLOCKS_MIN 10000u
#define BLOCKS_MAX 400000u

struct record {
	char *block;
	size_t size;
};

struct shrink {
	uint64_t random;
	size_t count;
	struct record *records; /* a survivor keeps its block */
	uintptr_t *pages;       /* of survivors, with repetitions */
};

static void grow(struct shrink *shrink)
{
	for (size_t i = 0; i < shrink->count; i++) {
		struct record *record = &shrink->records[i];
		record->size = SIZE_MIN + (size_t)(child_random(&shrink->random) >> 32) % (SIZE_MAX_ - SIZE_MIN + 1);
		record->block = (char *)adapter_alloc(record->size);
		child_check(record->block != NULL, "out of memory");
		child_use(record->block);
		record->block[record->size - 1] = (char)i;
	}
}

static bool is_survivor(struct shrink *shrink, unsigned kind, size_t i)
{
	if (kind == SURVIVORS_RUNS)
		return i / RUN_BLOCKS % 100 == 5;
	if (kind == SURVIVORS_HUNDREDTH)
		return i % 100 == 50;
	return child_random(&shrink->random) % 100 == 0;
}

static void free_most(struct shrink *shrink, unsigned kind)
{
	for (size_t i = 0; i < shrink->count; i++) {
		struct record *record = &shrink->records[i];
		if (is_survivor(shrink, kind, i))
			continue;
		adapter_free(record->block, record->size);
		record->block = NULL;
	}
}

static int compare_pages(const void *left, const void *right)
{
	uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
	return (a > b) - (a < b);
}

/* Also checks that the survivors still hold what was written. */
static uint64_t live_page_bytes(struct shrink *shrink)
{
	size_t count = 0;
	for (size_t i = 0; i < shrink->count; i++) {
		struct record *record = &shrink->records[i];
		if (!record->block)
			continue;
		child_check(*(uint64_t *)record->block == 1 && record->block[record->size - 1] == (char)i,
			    "a survivor lost what it held");
		uintptr_t first = (uintptr_t)record->block / OS_PAGE_BYTES;
		uintptr_t last = ((uintptr_t)record->block + adapter_usable_bytes(record->block) - 1) / OS_PAGE_BYTES;
		for (uintptr_t page = first; page <= last; page++)
			shrink->pages[count++] = page;
	}
	qsort(shrink->pages, count, sizeof shrink->pages[0], compare_pages);
	uint64_t distinct = 0;
	for (size_t i = 0; i < count; i++)
		distinct += i == 0 || shrink->pages[i] != shrink->pages[i - 1];
	return distinct * OS_PAGE_BYTES;
}

void work_shrink(const struct run *run, struct outcome *outcome)
{
	struct shrink shrink = {0x9e3779b97f4a7c15u, run->ops, NULL, NULL};
	if (!shrink.count)
		shrink.count = (size_t)(run->work_ms * BLOCKS_PER_MS);
	if (shrink.count < BLOCKS_MIN)
		shrink.count = BLOCKS_MIN;
	if (shrink.count > BLOCKS_MAX)
		shrink.count = BLOCKS_MAX;
	shrink.records = (struct record *)child_map(shrink.count * sizeof shrink.records[0]);
	shrink.pages = (uintptr_t *)child_map(shrink.count * 2 * sizeof shrink.pages[0]);
	outcome->base_rss_bytes = child_rss_bytes();
	uint64_t start = child_now_ns();
	grow(&shrink);
	free_most(&shrink, run->workload->parameter);
	uint64_t shrunk = child_now_ns();
	adapter_trim();
	uint64_t trimmed = child_now_ns();
	outcome->after_rss_bytes = child_rss_bytes();
	outcome->ops = shrink.count;
	outcome->ns_per_op = (double)(shrunk - start) / (double)shrink.count;
	outcome->trim_ms = (double)(trimmed - shrunk) / 1e6;
	outcome->live_page_bytes = live_page_bytes(&shrink);
}
