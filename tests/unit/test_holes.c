/*
 * Holes: whatever is freed, a trim gives back every OS page without a byte of a live block and no other; what was given
 * back is not held; the blocks are found again, once each; contents stay.
 */
#include "qa_check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "space.h"

enum { BLOCKS_MAX = TIMES(40000, 4000), LARGER_BLOCKS = TIMES(1000, 400) };

static void *blocks[BLOCKS_MAX];

static int by_address(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t) * (void *const *)a, right = (uintptr_t) * (void *const *)b;
	return left < right ? -1 : left > right;
}

/* OS pages that have a byte of one of the blocks (NULL: none). */
static uint64_t touched_bytes(size_t count, size_t size)
{
	uint64_t os_bytes = (uint64_t)sysconf(_SC_PAGESIZE), pages = 0;
	uintptr_t last = 0;

	qsort(blocks, count, sizeof *blocks, by_address);
	for (size_t i = 0; i < count; i++) {
		if (!blocks[i])
			continue;
		uintptr_t first = (uintptr_t)blocks[i] / os_bytes, end = ((uintptr_t)blocks[i] + size - 1) / os_bytes;
		if (first == last)
			first++;
		if (end >= first)
			pages += end - first + 1;
		last = end;
	}
	return pages * os_bytes;
}

/* What is resident of the memory that blocks come from, by the kernel's word. */
static uint64_t resident_bytes(void)
{
	uint64_t os_bytes = (uint64_t)sysconf(_SC_PAGESIZE), resident = 0;
	struct space_cursor cursor = {0};

	for (char *unit; space_next_unit(&cursor, &unit);) {
		for (uint64_t offset = 0; offset < space_page_size_bytes(); offset += os_bytes) {
			unsigned char state = 0;
			if (mincore(unit + offset, os_bytes, &state) == 0)
				resident += (state & 1) ? os_bytes : 0;
		}
	}
	return resident;
}

enum survivors { RUNS, EVERY_HUNDREDTH, RANDOM };

static bool survives(enum survivors kind, size_t i)
{
	return kind == RUNS ? i / 50 % 100 == 7 : kind == EVERY_HUNDREDTH ? i % 100 == 0 : rand() % 100 == 0;
}

static void check_kind(size_t size, enum survivors kind)
{
	size_t count = size > 8000 ? LARGER_BLOCKS : BLOCKS_MAX;
	unsigned seed = (unsigned)size;

	for (size_t i = 0; i < count; i++) {
		blocks[i] = qa_malloc(size);
		assert_non_null(blocks[i]);
		pattern_write(blocks[i], size, seed);
	}
	size_t block_size = qa_usable_size(blocks[0]);
	for (size_t i = 0; i < count; i++) {
		if (!survives(kind, i)) {
			qa_free(blocks[i]);
			blocks[i] = NULL;
		}
	}
	struct qa_trim_result result;
	assert_int_equal(qa_trim(NULL, &result), 0);
	uint64_t touched = touched_bytes(count, block_size);
	struct qa_class_stats row = check_row(block_size);
	if (row.held_bytes != touched)
		fail_msg("blocks of %zu, survivors %d: held %lu, touched %lu", size, (int)kind,
			 (unsigned long)row.held_bytes, (unsigned long)touched);
	assert_int_equal(result.held_before_bytes - result.held_after_bytes, result.returned_bytes);
	assert_true(resident_bytes() <= touched);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.returned_bytes, 0);

	/* grow again: every hole is filled once, nothing overlaps what survived */
	for (size_t i = 0; i < count; i++) {
		if (!blocks[i]) {
			blocks[i] = qa_malloc(size);
			pattern_write(blocks[i], size, seed);
		}
	}
	qsort(blocks, count, sizeof *blocks, by_address);
	for (size_t i = 0; i < count; i++) {
		pattern_check(blocks[i], size, seed);
		if (i > 0)
			assert_true((char *)blocks[i] - (char *)blocks[i - 1] >= (ptrdiff_t)block_size);
	}
	for (size_t i = 0; i < count; i++)
		qa_free(blocks[i]);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.held_after_bytes, 0);
	assert_int_equal(result.cached_after_bytes, 0);
}

static void test_every_size_and_kind_of_survivors(void **state)
{
	(void)state;
	static const size_t sizes[] = {8, 24, 48, 112, 160, 640, 1792, 4096, 5120, 12288, 20480, 32768};

	srand(7);
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (enum survivors kind = RUNS; kind <= RANDOM; kind++)
			check_kind(sizes[i], kind);
}

/* Frees and allocates at random between trims: the figures add up and contents stay at each step. */
static void test_trims_between_random_steps(void **state)
{
	(void)state;
	enum { SLOTS = 3000 };
	static const size_t sizes[] = {40, 200, 3000, 9000};

	srand(3);
	memset(blocks, 0, sizeof blocks);
	for (int round = 0; round < TIMES(60, 12); round++) {
		for (int step = 0; step < 3000; step++) {
			int i = rand() % SLOTS;
			size_t size = sizes[i % 4];
			if (blocks[i]) {
				pattern_check(blocks[i], size, 1);
				qa_free(blocks[i]);
				blocks[i] = NULL;
			} else if (rand() % 100 < (round % 10) * 10) {
				blocks[i] = qa_malloc(size);
				pattern_write(blocks[i], size, 1);
			}
		}
		assert_int_equal(qa_trim(NULL, NULL), 0);
		check_row(48);
	}
	for (int i = 0; i < SLOTS; i++) {
		if (blocks[i])
			pattern_check(blocks[i], sizes[i % 4], 1);
		qa_free(blocks[i]);
	}
	struct qa_trim_result result;
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.held_after_bytes, 0);
}

/* What the kernel does not take stays held, and its blocks stay usable. */
static void test_locked_memory_stays(void **state)
{
	(void)state;
	struct qa_trim_result result;

	for (int i = 0; i < 2000; i++)
		blocks[i] = qa_malloc(100);
	if (mlockall(MCL_CURRENT) != 0)
		fail_msg("mlockall: the test needs RLIMIT_MEMLOCK or root");
	for (int i = 0; i < 2000; i++)
		if (i % 100 != 0)
			qa_free(blocks[i]);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.held_before_bytes - result.held_after_bytes, result.returned_bytes);
	struct qa_class_stats row = check_row(112);
	assert_int_equal(row.used_blocks, 20);
	for (int i = 0; i < 2000; i++) {
		if (i % 100 != 0)
			blocks[i] = qa_malloc(100);
		pattern_write(blocks[i], 100, 4);
	}
	for (int i = 0; i < 2000; i++) {
		pattern_check(blocks[i], 100, 4);
		qa_free(blocks[i]);
	}
	assert_int_equal(check_row(112).used_blocks, 0);
	munlockall();
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.held_after_bytes, 0);
}

/* The first OS page of libqa's page around an address. AddressSanitizer would make mlock do nothing. */
static void lock_page(const void *address, bool is_locked)
{
	uintptr_t page = (uintptr_t)address & ~((uintptr_t)space_page_size_bytes() - 1);
	if (syscall(is_locked ? SYS_mlock : SYS_munlock, page, (size_t)1) != 0)
		fail_msg("mlock: the test needs RLIMIT_MEMLOCK or root");
}

/* The same of empty pages, in a chunk that can not go as a whole: of neighbours just the locked one stays. */
static void test_locked_empty_pages_stay(void **state)
{
	(void)state;
	enum { PAGES = 10 };
	size_t page_size = space_page_size_bytes(), count = PAGES * page_size / 1024;
	struct qa_trim_result result;

	for (size_t i = 0; i < count; i++)
		assert_non_null(blocks[i] = qa_malloc(1024));
	for (size_t i = 0; i < count; i++)
		lock_page(blocks[i], true);
	for (size_t i = 1; i < count; i++)
		qa_free(blocks[i]);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_true(result.returned_bytes < 2 * page_size); /* inside the first, and what the cache had more */
	assert_int_equal(result.held_before_bytes - result.held_after_bytes, result.returned_bytes);
	assert_true(check_row(1024).empty_bytes >= (PAGES - 1) * page_size);
	for (size_t i = 0; i < count; i++)
		lock_page(blocks[i], false);
	lock_page(blocks[count / 2], true);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_true(result.returned_bytes >= (PAGES - 2) * page_size);
	assert_int_equal(check_row(1024).empty_bytes, page_size);
	lock_page(blocks[count / 2], false);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.returned_bytes, page_size);
	qa_free(blocks[0]);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.held_after_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_size_and_kind_of_survivors),
		cmocka_unit_test(test_trims_between_random_steps),
		cmocka_unit_test(test_locked_memory_stays),
		cmocka_unit_test(test_locked_empty_pages_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
