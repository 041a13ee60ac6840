/*
 * keep.h, through the public calls: freed large blocks stay for the next of about their size, within bounds, are shown
 * as empty, and go back with a trim.
 */
#include "qa_check.h"

#include <stdlib.h>

enum { KIB = 1 << 10, MIB = 1 << 20, LIMIT = 16 * MIB, MOST = 16, PAGE_SIZE = 64 * KIB };

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(qa_trim(NULL, NULL), 0);
	return (int)check_row(0).held_bytes;
}

static uint64_t kept_bytes(void)
{
	struct qa_class_stats row = check_row(0);

	assert_int_equal(row.cached_bytes, row.empty_bytes);
	assert_int_equal(row.held_bytes, row.used_bytes + row.empty_bytes);
	return row.empty_bytes;
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
	char *block = qa_malloc(100 * KIB);

	assert_int_equal(check_row(0).used_bytes, 100 * KIB);
	qa_free(block);
	assert_int_equal(check_row(0).used_blocks, 0);
	assert_int_equal(kept_bytes(), 100 * KIB);
	assert_ptr_equal(qa_malloc(100 * KIB), block);
	assert_int_equal(kept_bytes(), 0);
	assert_int_equal(check_row(0).used_bytes, 100 * KIB);
	qa_free(block);
}

static void is_used_up_to_an_eighth_larger(void **state)
{
	(void)state;
	keep(1, 144 * KIB);
	void *smaller = qa_malloc(124 * KIB), *larger = qa_malloc(148 * KIB);

	assert_int_equal(kept_bytes(), 144 * KIB);
	volatile size_t size = 128 * KIB; /* for the compiler a block has no more than was asked for */
	void *fitting = qa_malloc(size);
	assert_int_equal(kept_bytes(), 0);
	/* All that may be in memory is the block's. */
	assert_int_equal(qa_usable_size(fitting), 144 * KIB);
	pattern_write(fitting, 144 * KIB, 2);
	assert_int_equal(check_row(0).used_bytes, (124 + 148 + 144) * KIB);
	qa_free(smaller);
	qa_free(larger);
	pattern_check(fitting, 144 * KIB, 2);
	qa_free(fitting);
}

static void is_the_smallest_that_fits(void **state)
{
	(void)state;
	void *blocks[3] = {qa_malloc(220 * KIB), qa_malloc(204 * KIB), qa_malloc(212 * KIB)}, *best = blocks[1];

	for (size_t i = 0; i < COUNT(blocks); i++)
		qa_free(blocks[i]);
	void *block = qa_malloc(200 * KIB);
	assert_ptr_equal(block, best);
	qa_free(block);
}

static void is_aligned_as_asked(void **state)
{
	(void)state;
	size_t align = 16 * MIB; /* hardly any has that by chance */

	keep(8, 128 * KIB);
	void *block = qa_aligned_alloc(align, 128 * KIB);
	assert_int_equal((uintptr_t)block % align, 0);
	qa_free(block);
	assert_ptr_equal(qa_aligned_alloc(align, 128 * KIB), block);
	qa_free(block);
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
	void *last = qa_malloc(512 * KIB);
	qa_free(last);
	assert_int_equal(kept_bytes(), LIMIT * 3 / 4 + 512 * KIB);
	assert_ptr_equal(qa_malloc(512 * KIB), last);
	qa_free(last);
}

static void is_bounded_in_number_and_the_oldest_goes(void **state)
{
	(void)state;
	void *first = qa_malloc(64 * KIB), *second = qa_malloc(80 * KIB), *more[MOST - 1];

	for (size_t i = 0; i < COUNT(more); i++)
		more[i] = qa_malloc(160 * KIB);
	qa_free(first);
	qa_free(second);
	for (size_t i = 0; i < COUNT(more); i++)
		qa_free(more[i]);
	assert_int_equal(kept_bytes(), 80 * KIB + COUNT(more) * 160 * KIB);
	assert_ptr_equal(qa_malloc(80 * KIB), second);
	qa_free(second);
}

static void goes_back_with_a_trim(void **state)
{
	(void)state;
	struct qa_trim_result result;

	keep(4, MIB);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_int_equal(result.returned_bytes, 4 * MIB);
	assert_int_equal(result.cached_before_bytes, 4 * MIB);
	assert_int_equal(result.cached_after_bytes, 0);
	assert_int_equal(kept_bytes(), 0);
}

static void stays_as_far_as_a_trim_is_told(void **state)
{
	(void)state;
	struct qa_trim_result result;
	struct qa_trim_options options = {.size = sizeof options, .keep_bytes = 2 * MIB + 512 * KIB};

	keep(4, MIB);
	assert_int_equal(qa_trim(&options, &result), 0);
	assert_int_equal(result.returned_bytes, MIB);
	assert_int_equal(kept_bytes(), 3 * MIB);
	options = (struct qa_trim_options){.size = sizeof options, .block_size = 64};
	assert_int_equal(qa_trim(&options, &result), 0);
	assert_int_equal(kept_bytes(), 3 * MIB);
}

static void is_the_kernels_after_a_trim(void **state)
{
	(void)state;
	char *block = qa_malloc(200 * KIB);
	pattern_write(block, 200 * KIB, 1);
	qa_free(block);
	assert_int_equal(qa_trim(NULL, NULL), 0);

	/* Fresh memory reads as zero. */
	unsigned char *fresh = qa_malloc(200 * KIB);
	for (size_t i = 0; i < 200 * KIB; i++)
		assert_int_equal(fresh[i], 0);
	qa_free(fresh);
}

static void a_resize_by_an_eighth_stays(void **state)
{
	(void)state;
	char *block = qa_malloc(90 * PAGE_SIZE);
	size_t size = qa_usable_size(block);

	pattern_write(block, size, 1);
	assert_ptr_equal(qa_realloc(block, size * 9 / 10), block);
	assert_int_equal(qa_usable_size(block), size);
	block = qa_realloc(block, size / 2);
	assert_int_equal(qa_usable_size(block), size / 2);
	assert_int_equal(check_row(0).used_bytes, size / 2);
	qa_free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_shown_and_used_again, set_up),
		cmocka_unit_test_setup(is_used_up_to_an_eighth_larger, set_up),
		cmocka_unit_test_setup(is_the_smallest_that_fits, set_up),
		cmocka_unit_test_setup(is_aligned_as_asked, set_up),
		cmocka_unit_test_setup(is_zero_for_calloc, set_up),
		cmocka_unit_test_setup(is_bounded_in_bytes, set_up),
		cmocka_unit_test_setup(is_bounded_in_number_and_the_oldest_goes, set_up),
		cmocka_unit_test_setup(goes_back_with_a_trim, set_up),
		cmocka_unit_test_setup(stays_as_far_as_a_trim_is_told, set_up),
		cmocka_unit_test_setup(is_the_kernels_after_a_trim, set_up),
		cmocka_unit_test_setup(a_resize_by_an_eighth_stays, set_up),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
