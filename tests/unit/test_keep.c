/*
 * keep.h, through the public calls: freed large blocks stay for the next ones, within bounds, are shown as empty, and
 * go back with a trim.
 */
#include "qa_check.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "page_map.h"

enum { KIB = 1 << 10, MIB = 1 << 20, LIMIT = 16 * MIB, MOST = 64, PAGE_SIZE = 64 * KIB };

/* The linker sends libqa's own calls here: once, its memory may lie where a test wants it. */
void *__real_os_map(size_t size_bytes, size_t align_bytes);
void *__wrap_os_map(size_t size_bytes, size_t align_bytes);

static void *wanted;

void *__wrap_os_map(size_t size_bytes, size_t align_bytes)
{
	void *address = wanted;

	wanted = NULL;
	if (!address)
		return __real_os_map(size_bytes, align_bytes);
	return mmap(address, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(qa_trim(NULL, NULL), 0);
	return (int)check_row(0).held_bytes;
}

static uint64_t kept_bytes(void)
{
	return check_row(0).empty_bytes;
}

static bool is_mapped(void *address)
{
	unsigned char resident;

	return mincore(address, 1, &resident) == 0;
}

/* Leaves count mappings of that size, and none used. */
static void keep(size_t count, size_t size)
{
	void *blocks[64];

	assert_true(count <= COUNT(blocks));
	for (size_t i = 0; i < count; i++)
		pattern_write(blocks[i] = qa_malloc(size), size, 1);
	for (size_t i = 0; i < count; i++)
		qa_free(blocks[i]);
}

static void is_shown_and_used_again(void **state)
{
	(void)state;
	char *block = qa_malloc(128 * KIB);

	assert_int_equal(check_row(0).used_bytes, 128 * KIB);
	qa_free(block);
	assert_int_equal(check_row(0).used_blocks, 0);
	assert_int_equal(kept_bytes(), 128 * KIB);
	assert_ptr_equal(qa_malloc(128 * KIB), block);
	assert_int_equal(kept_bytes(), 0);
	assert_int_equal(check_row(0).used_bytes, 128 * KIB);
	qa_free(block);
}

static void is_cut_for_smaller_ones_and_joined_again(void **state)
{
	(void)state;
	char *block = qa_malloc(640 * KIB);

	qa_free(block);
	char *front = qa_malloc(128 * KIB), *middle = qa_malloc(256 * KIB), *back = qa_malloc(256 * KIB);
	assert_ptr_equal(front, block);
	assert_ptr_equal(middle, block + 128 * KIB);
	assert_ptr_equal(back, block + 384 * KIB);
	assert_int_equal(kept_bytes(), 0);
	pattern_write(front, 128 * KIB, 1);
	pattern_write(middle, 256 * KIB, 2);
	pattern_write(back, 256 * KIB, 3);
	pattern_check(front, 128 * KIB, 1);
	pattern_check(middle, 256 * KIB, 2);
	pattern_check(back, 256 * KIB, 3);
	qa_free(front);
	qa_free(back);
	qa_free(middle);
	assert_int_equal(kept_bytes(), 640 * KIB);
	assert_ptr_equal(qa_malloc(640 * KIB), block);
	qa_free(block);
}

/* What a block had in memory behind the end of the next one there is held, and is slack. */
static void rests_are_slack(void **state)
{
	(void)state;
	char *block = qa_malloc(128 * KIB);

	qa_free(block);
	assert_ptr_equal(qa_malloc(100 * KIB), block);
	struct qa_class_stats row = check_row(0);
	assert_int_equal(row.used_bytes, 100 * KIB);
	assert_int_equal(row.slack_bytes, 28 * KIB);
	assert_int_equal(row.empty_bytes, 0);
	assert_int_equal(qa_usable_size(block), 100 * KIB);
	/* Longer: it is there. Shorter: it goes back. */
	assert_ptr_equal(qa_realloc(block, 120 * KIB), block);
	assert_int_equal(check_row(0).slack_bytes, 8 * KIB);
	assert_ptr_equal(qa_realloc(block, 80 * KIB), block);
	assert_int_equal(check_row(0).slack_bytes, 0);
	assert_int_equal(check_row(0).held_bytes, 80 * KIB);
	qa_free(block);
	assert_int_equal(kept_bytes(), 80 * KIB);
}

static void slack_goes_back_with_a_trim(void **state)
{
	(void)state;
	struct qa_trim_result result;
	struct qa_trim_options options = {.size = sizeof options, .keep_bytes = 28 * KIB};
	void *blocks[3];

	keep(1, 3 * 128 * KIB);
	for (size_t i = 0; i < COUNT(blocks); i++)
		pattern_write(blocks[i] = qa_malloc(100 * KIB), 100 * KIB, 1);
	qa_free(blocks[1]);
	assert_int_equal(check_row(0).slack_bytes, 2 * 28 * KIB);
	assert_int_equal(kept_bytes(), 128 * KIB);
	assert_int_equal(qa_trim(&options, &result), 0);
	assert_int_equal(result.returned_bytes, (128 + 28) * KIB);
	assert_int_equal(check_row(0).slack_bytes, 28 * KIB);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.returned_bytes, 28 * KIB);
	assert_int_equal(check_row(0).held_bytes, 2 * 100 * KIB);
	for (size_t i = 0; i < COUNT(blocks); i += 2) {
		pattern_check(blocks[i], 100 * KIB, 1);
		assert_int_equal(((volatile char *)blocks[i])[100 * KIB], 0);
		qa_free(blocks[i]);
	}
}

/* What a unit never had in memory is not held when blocks of one size take turns. */
static void units_that_were_not_full_are_not_held_in_full(void **state)
{
	(void)state;
	size_t size = 36 * KIB;
	void *blocks[4];

	/* Neighbours, out of one range, whose slack goes. */
	keep(1, COUNT(blocks) * PAGE_SIZE);
	for (size_t i = 0; i < COUNT(blocks); i++)
		blocks[i] = qa_malloc(size);
	assert_int_equal(qa_trim(NULL, NULL), 0);
	for (size_t i = 0; i < COUNT(blocks); i++)
		qa_free(blocks[i]);
	assert_int_equal(kept_bytes(), 4 * size);
	for (int i = 0; i < 10; i++) {
		void *block = qa_malloc(size);
		assert_int_equal(check_row(0).slack_bytes, 0);
		assert_int_equal(kept_bytes(), 3 * size);
		qa_free(block);
		assert_int_equal(kept_bytes(), 4 * size);
	}
	qa_free(qa_malloc(COUNT(blocks) * PAGE_SIZE)); /* from now on they may be full */
	assert_int_equal(kept_bytes(), COUNT(blocks) * PAGE_SIZE);
	struct qa_trim_options options = {.size = sizeof options, .keep_bytes = PAGE_SIZE + 1};
	assert_int_equal(qa_trim(&options, NULL), 0);
	assert_int_equal(kept_bytes(), 2 * PAGE_SIZE);
}

static void is_the_smallest_that_fits(void **state)
{
	(void)state;
	static const size_t units[] = {5, 1, 4, 1, 7, 1};
	void *blocks[COUNT(units)];

	/* One after the other out of the same range. */
	keep(1, 19 * PAGE_SIZE);
	for (size_t i = 0; i < COUNT(units); i++)
		blocks[i] = qa_malloc(units[i] * PAGE_SIZE);
	for (size_t i = 0; i < COUNT(units); i += 2)
		qa_free(blocks[i]);
	void *block = qa_malloc(3 * PAGE_SIZE);
	assert_ptr_equal(block, blocks[2]);
	qa_free(block);
	for (size_t i = 1; i < COUNT(units); i += 2)
		qa_free(blocks[i]);
	assert_int_equal(kept_bytes(), 19 * PAGE_SIZE);
}

static void is_aligned_as_asked(void **state)
{
	(void)state;
	size_t align = 16 * MIB; /* hardly any has that by chance */

	keep(8, 128 * KIB);
	void *block = qa_aligned_alloc(align, 128 * KIB);
	assert_int_equal((uintptr_t)block % align, 0);
	qa_free(block);
	void *again = qa_aligned_alloc(align, 128 * KIB);
	assert_int_equal((uintptr_t)again % align, 0);
	qa_free(again);
}

static void is_zero_for_calloc(void **state)
{
	(void)state;
	keep(1, 300 * KIB);
	unsigned char *block = qa_calloc(290, KIB);

	assert_int_equal(kept_bytes(), 0);
	for (size_t i = 0; i < 290 * KIB; i++)
		assert_int_equal(block[i], 0);
	qa_free(block);
}

static void is_bounded_in_bytes(void **state)
{
	(void)state;
	keep(1, LIMIT / 4 + 1);
	assert_int_equal(kept_bytes(), 0);
	keep(6, LIMIT / 4);
	assert_int_equal(kept_bytes(), LIMIT);
	void *block = qa_malloc(512 * KIB);
	assert_int_equal(kept_bytes(), LIMIT - 512 * KIB);
	qa_free(block);
	assert_int_equal(kept_bytes(), LIMIT);
}

static void is_bounded_in_number_and_the_oldest_goes(void **state)
{
	(void)state;
	enum { REGIONS = 3, BLOCKS = REGIONS * (LIMIT / 4) / PAGE_SIZE, LEFT = BLOCKS / 2 - MOST };
	static void *blocks[BLOCKS];

	/* Out of few ranges, one after the other, so that every other one has neighbours in use. */
	keep(REGIONS, LIMIT / 4);
	for (size_t i = 0; i < BLOCKS; i++)
		*(char *)(blocks[i] = qa_malloc(PAGE_SIZE)) = 1;
	assert_int_equal(kept_bytes(), 0);
	for (size_t i = 0; i < BLOCKS; i += 2)
		qa_free(blocks[i]);
	assert_int_equal(kept_bytes(), MOST * PAGE_SIZE);
	for (size_t i = 0; i < BLOCKS; i += 2)
		assert_int_equal(is_mapped(blocks[i]), i >= 2 * LEFT);
	for (size_t i = 1; i < BLOCKS; i += 2)
		qa_free(blocks[i]);
}

static void goes_back_with_a_trim(void **state)
{
	(void)state;
	struct qa_trim_result result;
	void *block = qa_malloc(MIB);

	keep(3, MIB);
	qa_free(block);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.returned_bytes, 4 * MIB);
	assert_int_equal(result.cached_before_bytes, 4 * MIB);
	assert_int_equal(result.cached_after_bytes, 0);
	assert_int_equal(kept_bytes(), 0);
	assert_false(is_mapped(block));
}

static void stays_as_far_as_a_trim_is_told(void **state)
{
	(void)state;
	struct qa_trim_result result;
	struct qa_trim_options options = {.size = sizeof options, .keep_bytes = 2 * MIB + 512 * KIB};

	keep(4, MIB);
	assert_int_equal(qa_trim(&options, &result), 0);
	assert_int_equal(result.returned_bytes, MIB + 512 * KIB);
	assert_int_equal(kept_bytes(), 2 * MIB + 512 * KIB);
	options.keep_bytes = 2 * MIB + 512 * KIB - 1; /* less than a page may go */
	assert_int_equal(qa_trim(&options, &result), 0);
	assert_int_equal(result.returned_bytes, 0);
	options = (struct qa_trim_options){.size = sizeof options, .block_size = 64};
	assert_int_equal(qa_trim(&options, &result), 0);
	assert_int_equal(kept_bytes(), 2 * MIB + 512 * KIB);
}

/* What the kernel has as several mappings, it does not move: the contents do. */
static void grows_and_shrinks_when_it_is_several_mappings(void **state)
{
	(void)state;
	char *block = qa_aligned_alloc(MIB, 3 * PAGE_SIZE);

	pattern_write(block, PAGE_SIZE, 1);
	pattern_write(block + PAGE_SIZE, 2 * PAGE_SIZE, 2);
	assert_int_equal(madvise(block + PAGE_SIZE, PAGE_SIZE, MADV_DONTFORK), 0);
	struct qa_class_stats before = check_row(0);
	char *longer = qa_realloc(block, 5 * MIB);
	assert_non_null(longer);
	assert_int_equal((uintptr_t)longer % MIB, 0);
	assert_memory_equal(longer, longer + 1, PAGE_SIZE - 1);
	assert_memory_equal(longer + PAGE_SIZE, longer + PAGE_SIZE + 1, 2 * PAGE_SIZE - 1);
	struct qa_class_stats after = check_row(0);
	assert_int_equal(after.used_blocks, before.used_blocks);
	assert_int_equal(after.used_bytes, before.used_bytes + 5 * MIB - 3 * PAGE_SIZE);
	assert_int_equal(madvise(longer + PAGE_SIZE, PAGE_SIZE, MADV_DONTFORK), 0);
	assert_ptr_equal(qa_realloc(longer, 2 * PAGE_SIZE), longer);
	assert_int_equal(check_row(0).used_bytes, before.used_bytes - PAGE_SIZE);
	assert_int_equal(check_row(0).slack_bytes, 0);
	assert_int_equal(madvise(longer + PAGE_SIZE, PAGE_SIZE, MADV_DOFORK), 0);
	qa_free(longer);
}

/* Where a block grew to in place, others may start once it is freed: in a leaf of the page map that is new then, too.
 */
static void is_cut_behind_the_end_of_a_leaf(void **state)
{
	(void)state;
	const size_t leaf_bytes = (size_t)1 << PAGE_MAP_LEAF_BITS, area_bytes = 3 * leaf_bytes;
	char *area = mmap(NULL, area_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *blocks[4], *edge = (char *)(((uintptr_t)area + leaf_bytes) & ~(leaf_bytes - 1));

	assert_ptr_not_equal(area, MAP_FAILED);
	assert_int_equal(munmap(edge, 3 * PAGE_SIZE), 0);
	wanted = edge - PAGE_SIZE;
	char *block = qa_malloc(PAGE_SIZE);
	assert_ptr_equal(block, edge - PAGE_SIZE);
	assert_ptr_equal(qa_realloc(block, 4 * PAGE_SIZE), block);
	qa_free(block);
	for (size_t i = 0; i < COUNT(blocks); i++) {
		blocks[i] = qa_malloc(PAGE_SIZE);
		assert_ptr_equal(blocks[i], block + i * PAGE_SIZE);
		pattern_write(blocks[i], PAGE_SIZE, (unsigned)i);
	}
	for (size_t i = 0; i < COUNT(blocks); i++) {
		pattern_check(blocks[i], PAGE_SIZE, (unsigned)i);
		qa_free(blocks[i]);
	}
	assert_int_equal(kept_bytes(), 4 * PAGE_SIZE);
	assert_int_equal(qa_trim(NULL, NULL), 0);
	assert_int_equal(munmap(area, (size_t)(edge - PAGE_SIZE - area)), 0);
	assert_int_equal(munmap(edge + 3 * PAGE_SIZE, (size_t)(area + area_bytes - edge) - 3 * PAGE_SIZE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_shown_and_used_again, set_up),
		cmocka_unit_test_setup(is_cut_for_smaller_ones_and_joined_again, set_up),
		cmocka_unit_test_setup(rests_are_slack, set_up),
		cmocka_unit_test_setup(slack_goes_back_with_a_trim, set_up),
		cmocka_unit_test_setup(units_that_were_not_full_are_not_held_in_full, set_up),
		cmocka_unit_test_setup(is_the_smallest_that_fits, set_up),
		cmocka_unit_test_setup(is_aligned_as_asked, set_up),
		cmocka_unit_test_setup(is_zero_for_calloc, set_up),
		cmocka_unit_test_setup(is_bounded_in_bytes, set_up),
		cmocka_unit_test_setup(is_bounded_in_number_and_the_oldest_goes, set_up),
		cmocka_unit_test_setup(goes_back_with_a_trim, set_up),
		cmocka_unit_test_setup(stays_as_far_as_a_trim_is_told, set_up),
		cmocka_unit_test_setup(grows_and_shrinks_when_it_is_several_mappings, set_up),
		cmocka_unit_test_setup(is_cut_behind_the_end_of_a_leaf, set_up),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
