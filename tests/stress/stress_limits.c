/*
 * Where the machine ends: no address space, no memory, no more mappings, locked memory.
 * libqa says NULL and ENOMEM, its figures are right, and when there is room again it goes on.
 */
#include "stress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIVE_MAX = 1 << 20, LIMIT_BYTES = 64 << 20, MIB = 1 << 20 };

static struct live {
	void *block;
	uint32_t size;
} live[LIVE_MAX];

static uint32_t a_size(uint64_t *random)
{
	unsigned kind = stress_random(random) % 64, number = stress_random(random);
	return 1 + (kind == 0 ? number % (300 << 10) : kind < 8 ? number % 20000 : number % 600);
}

/* Until there is no more, or as many as asked for. Returns how many. */
static size_t allocate(size_t most, uint64_t seed)
{
	size_t count = 0;
	for (; count < most; count++) {
		uint32_t size = a_size(&seed);
		errno = 0;
		void *block = count % 4 == 0 ? qa_calloc(1, size) : qa_malloc(size);
		if (!block) {
			expect_equal(errno, ENOMEM);
			break;
		}
		stress_fill(block, size, 1);
		live[count] = (struct live){block, size};
	}
	return count;
}

static uint64_t used_blocks(void)
{
	struct qa_stats total;
	struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	size_t count = qa_stats(&total, rows, QA_STATS_ROWS_MAX);
	uint64_t used = 0;
	for (size_t i = 0; i < count; i++)
		used += rows[i].used_blocks;
	return used;
}

static void check_figures(size_t blocks)
{
	struct qa_stats stats = stress_figures();
	expect_equal(used_blocks(), blocks);
	expect_equal(stats.allocs - stats.frees, blocks);
}

static void free_from(size_t first, size_t count)
{
	for (size_t i = first; i < count; i++) {
		stress_check(live[i].block, live[i].size, 1);
		qa_free(live[i].block);
	}
}

static void a_failed_resize_keeps_the_block(void)
{
	expect_true(qa_realloc(live[0].block, (size_t)1 << 40) == NULL);
	expect_equal(errno, ENOMEM);
	stress_check(live[0].block, live[0].size, 1);
}

/* Memory is out at some point; then everything is given back and it starts anew. */
static void fill_the_machine(void)
{
	size_t count = allocate(LIVE_MAX, 1);
	expect_at_most(count, LIVE_MAX - 1);
	check_figures(count);
	expect_at_most(LIMIT_BYTES / 3, stress_figures().held_bytes);
	a_failed_resize_keeps_the_block();
	free_from(count / 2, count);
	check_figures(count / 2);
	expect_equal(qa_trim(NULL, NULL), 0);
	free_from(0, count / 2);
	check_figures(0);
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(stress_figures().held_bytes, 0);
	size_t again = allocate(count / 4 * 3, 1);
	expect_equal(again, count / 4 * 3);
	free_from(0, again);
	check_figures(0);
}

static uint64_t status_bytes(const char *field)
{
	char line[200];
	unsigned long kib = 0;
	FILE *file = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof line, file))
		if (strncmp(line, field, strlen(field)) == 0)
			kib = strtoul(line + strlen(field) + 1, NULL, 10);
	fclose(file);
	return (uint64_t)kib << 10;
}

static void limit(int resource, uint64_t bytes)
{
	struct rlimit limit = {bytes, bytes};
	expect_equal(setrlimit((__rlimit_resource_t)resource, &limit), 0);
}

/* With a sanitizer the program has terabytes of address space from the start: so much more, then. */
static void case_address_space(void)
{
	if (SANITIZED)
		limit(RLIMIT_AS, status_bytes("VmSize") + LIMIT_BYTES);
	fill_the_machine();
}

static void limit_address_space(void)
{
	if (!SANITIZED)
		limit(RLIMIT_AS, LIMIT_BYTES);
}

/* What strict overcommit refuses: more private memory, while there are addresses. */
static void case_data(void)
{
	limit(RLIMIT_DATA, status_bytes("VmData") + LIMIT_BYTES);
	fill_the_machine();
}

/* From the first call on: the page map's leaf and the first chunk can not be had. */
static void case_nothing_at_all(void)
{
	limit(RLIMIT_DATA, status_bytes("VmData"));
	for (int i = 0; i < 100; i++) {
		errno = 0;
		expect_true(qa_malloc(100) == NULL && errno == ENOMEM);
		expect_true(qa_malloc(MIB) == NULL && errno == ENOMEM);
		expect_true(qa_alloc(16, 8) == NULL && errno == ENOMEM);
		expect_equal(qa_trim(NULL, NULL), 0);
	}
	check_figures(0);
	expect_equal(stress_figures().held_bytes, 0);
}

/* How many of 32 KiB there was memory for. */
static size_t fill_with_small_blocks(void)
{
	size_t count = 0;

	while (count < 1000 && qa_malloc(30000) != NULL)
		count++;
	return count;
}

/* What is kept of freed blocks is there for a large block, for a chunk and for libqa itself. */
static void case_kept(void)
{
	void *large[4];

	for (size_t i = 0; i < COUNT(large); i++)
		large[i] = qa_malloc(4 * MIB);
	for (size_t i = 0; i < COUNT(large); i++)
		qa_free(large[i]);
	expect_equal(stress_figures().empty_bytes, 16 * MIB);
	limit(RLIMIT_AS, status_bytes("VmSize") + MIB);
	void *larger = qa_malloc(12 * MIB);
	expect_true(larger != NULL);
	expect_equal(stress_figures().empty_bytes, 0);
	qa_free(larger);

	expect_true(qa_malloc(100) != NULL); /* what the first one needs besides */
	void *block = qa_malloc(4 * MIB);
	limit(RLIMIT_AS, status_bytes("VmSize"));
	expect_at_most(fill_with_small_blocks(), 64); /* the rest of a chunk */
	qa_free(block);
	expect_at_most(60, fill_with_small_blocks());
}

static size_t map_count_max(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
	char line[32] = "";
	expect_true(file && fgets(line, sizeof line, file));
	fclose(file);
	return strtoul(line, NULL, 10);
}

/* One page in two gets another protection, until the kernel has no mapping left. */
static char *use_up_mappings(size_t *bytes)
{
	size_t pages = map_count_max() + 10, page_bytes = (size_t)sysconf(_SC_PAGESIZE), i = 0;
	*bytes = pages * page_bytes;
	char *area = mmap(NULL, *bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	expect_true(area != MAP_FAILED);
	while (i < pages && mprotect(area + i * page_bytes, page_bytes, PROT_READ) == 0)
		i += 2;
	expect_at_most(i, pages);
	expect_equal(errno, ENOMEM);
	/* the last one: mprotect needs two at once */
	while (mmap(NULL, page_bytes, i++ % 2 ? PROT_READ : PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		;
	return area;
}

enum { LARGE = 40 };

static void case_mappings(void)
{
	void *large[LARGE];
	size_t bytes, count = allocate(20000, 1);

	for (int i = 0; i < LARGE; i++)
		stress_fill(large[i] = qa_malloc(MIB), MIB, 2);
	char *area = use_up_mappings(&bytes);
	/* neighbours in one mapping, which can not be parted now */
	uint64_t used_bytes = stress_figures().used_bytes;
	for (int i = 0; i < LARGE; i += 2)
		qa_free(large[i]);
	expect_equal(stress_figures().used_bytes, used_bytes - LARGE / 2 * MIB);
	for (int i = 1; i < LARGE; i += 2)
		stress_check(large[i], MIB, 2);
	/* for which one would have to be parted, too */
	expect_true(qa_realloc(large[1], 100 << 10) == large[1]);
	stress_check(large[1], 100 << 10, 2);
	check_figures(count + LARGE / 2);
	free_from(count / 2, count);
	expect_equal(qa_trim(NULL, NULL), 0);
	check_figures(count / 2 + LARGE / 2);
	size_t more = 0;
	void *some[1000];
	for (; more < COUNT(some) && (some[more] = qa_malloc(30000)) != NULL; more++)
		stress_fill(some[more], 30000, 3);
	for (size_t i = 0; i < more; i++) {
		stress_check(some[i], 30000, 3);
		qa_free(some[i]);
	}
	free_from(0, count / 2);
	expect_equal(qa_trim(NULL, NULL), 0);
	check_figures(LARGE / 2);
	expect_equal(munmap(area, bytes), 0);
	for (int i = 1; i < LARGE; i += 2)
		qa_free(large[i]);
	count = allocate(20000, 3);
	expect_equal(count, 20000);
	free_from(0, count);
	check_figures(0);
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(stress_figures().held_bytes, 0);
}

static bool is_one_of(void *const *blocks, size_t count, const char *address)
{
	while (count > 0 && blocks[count - 1] != address)
		count--;
	return count > 0;
}

/* Too large to be kept, but the kernel can not take more than its memory: its addresses are the next blocks'. */
static void case_mappings_kept(void)
{
	enum { BIG = 5 * MIB };
	void *large[10];
	size_t bytes, found = 0; /* one between two */

	for (size_t i = 0; i < COUNT(large); i++)
		stress_fill(large[i] = qa_malloc(BIG), BIG, 2);
	while (!is_one_of(large, COUNT(large), (char *)large[found] - BIG) ||
	       !is_one_of(large, COUNT(large), (char *)large[found] + BIG))
		expect_at_most(++found, COUNT(large) - 1);
	char *area = use_up_mappings(&bytes), *block = large[found];
	qa_free(block);
	expect_equal(stress_figures().cached_bytes, 0);
	void *next = qa_malloc(4 * MIB);
	expect_true(next == block);
	qa_free(next);
	expect_equal(stress_figures().empty_bytes, 4 * MIB);
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(stress_figures().cached_bytes, 0);
	expect_equal(munmap(area, bytes), 0);
	uint64_t before_bytes = status_bytes("VmSize");
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(status_bytes("VmSize"), before_bytes - BIG);
	for (size_t i = 0; i < COUNT(large); i++) {
		stress_check(large[i], i == found ? 0 : BIG, 2);
		qa_free(i == found ? NULL : large[i]);
	}
	expect_equal(stress_figures().held_bytes, 0);
}

/* No mapping is left when libqa makes its first. */
static void case_mappings_at_first(void)
{
	size_t bytes;
	char *area = use_up_mappings(&bytes);
	size_t count = allocate(1000, 1);
	check_figures(count);
	free_from(0, count);
	expect_equal(munmap(area, bytes), 0);
	count = allocate(20000, 1);
	expect_equal(count, 20000);
	free_from(0, count);
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(stress_figures().held_bytes, 0);
}

/* All memory, now and later; where that is not allowed, or a sanitizer has too much, some of the blocks. */
static void lock_memory(size_t count)
{
	if (!SANITIZED && mlockall(MCL_CURRENT | MCL_FUTURE) == 0)
		return;
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < count && i < 500; i++)
		mlock((void *)((uintptr_t)live[i].block & ~(page_bytes - 1)), page_bytes);
}

static void unlock_memory(size_t count)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	munlockall();
	for (size_t i = 0; i < count; i++)
		munlock((void *)((uintptr_t)live[i].block & ~(page_bytes - 1)), page_bytes);
}

static void case_locked(void)
{
	enum { COUNT_LOCKED = 4000 };
	size_t count = allocate(COUNT_LOCKED, 1);
	lock_memory(count);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		stress_check(live[i].block, live[i].size, 1);
		if (i % 50 == 0)
			live[kept++] = live[i];
		else
			qa_free(live[i].block);
	}
	/* the kernel gives nothing back of what is locked: it is held, and used again */
	struct qa_trim_result result;
	expect_equal(qa_trim(NULL, &result), 0);
	check_figures(kept);
	expect_equal(result.held_after_bytes, stress_figures().held_bytes);
	for (size_t i = 0; i < kept; i++)
		stress_check(live[i].block, live[i].size, 1);
	void *again[500];
	for (size_t i = 0; i < COUNT(again); i++)
		stress_fill(again[i] = qa_malloc(i * 7 % 3000), i * 7 % 3000, 4);
	check_figures(kept + COUNT(again));
	for (size_t i = 0; i < COUNT(again); i++) {
		stress_check(again[i], i * 7 % 3000, 4);
		qa_free(again[i]);
	}
	/* when it may, a trim takes what it could not take before */
	unlock_memory(kept);
	expect_equal(qa_trim(NULL, NULL), 0);
	uint64_t most_bytes = 0;
	for (size_t i = 0; i < kept; i++)
		most_bytes += (live[i].size / 4096 + 2) * 4096;
	expect_at_most(stress_figures().held_bytes, most_bytes);
	free_from(0, kept);
	expect_equal(qa_trim(NULL, NULL), 0);
	expect_equal(stress_figures().held_bytes, 0);
}

static const struct stress_case cases[] = {
	{"address space", case_address_space, limit_address_space, NULL},
	{"data", case_data, NULL, NULL},
	{"nothing at all", case_nothing_at_all, NULL, NULL},
	{"kept", case_kept, NULL, "QA_CHECK=off"},
	{"locked", case_locked, NULL, NULL},
	{"mappings", case_mappings, NULL, NULL},
	{"mappings at first", case_mappings_at_first, NULL, NULL},
	{"mappings kept", case_mappings_kept, NULL, "QA_CHECK=off"},
};

/* ThreadSanitizer itself ends the program when the kernel has no mapping for it: not the last three, then. */
enum { CASES = SANITIZED_TSAN ? COUNT(cases) - 3 : COUNT(cases) };

static void test_limit(void **state)
{
	stress_in_program(*state);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[CASES];
	for (size_t i = 0; i < CASES; i++)
		tests[i] = (struct CMUnitTest){cases[i].name, test_limit, NULL, NULL, (void *)(uintptr_t)&cases[i]};
	stress_run_case(argc, argv, cases, COUNT(cases));
	stress_watch(170);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
