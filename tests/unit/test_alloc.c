/*
 * The public calls: sizes, alignments, contents, errno as glibc's; figures exact in one thread.
 */
#include "qa_check.h"

#include <errno.h>
#include <stdlib.h>

static void test_alignment_and_size_of_every_call(void **state)
{
	(void)state;

	for (size_t size = 0; size <= 200000; size = size < 2100 ? size + 1 : size * 3 / 2) {
		for (size_t align = 1; align <= 1 << 20; align *= 4) {
			void *block = qa_alloc(size, align);
			assert_non_null(block);
			assert_int_equal((uintptr_t)block % align, 0);
			assert_true(qa_usable_size(block) >= size);
			pattern_write(block, size, 1);
			pattern_check(block, size, 1);
			qa_dealloc(block, size, align);
		}
		void *block = qa_malloc(size);
		assert_non_null(block);
		assert_int_equal((uintptr_t)block % 16, 0);
		assert_true(qa_usable_size(block) >= size);
		qa_free_sized(block, size);
	}
}

static void test_constant_sizes_and_calls_agree(void **state)
{
	(void)state;
	volatile size_t size = 24, align = 8;
	void *inline_block = qa_alloc(24, 8), *called_block = qa_alloc(size, align);

	assert_int_equal(qa_usable_size(inline_block), 24);
	assert_int_equal(qa_usable_size(called_block), 24);
	qa_dealloc(inline_block, size, align);
	qa_dealloc(called_block, 24, 8);
	void *aligned = qa_alloc(100, 64);
	assert_int_equal((uintptr_t)aligned % 64, 0);
	assert_int_equal(qa_usable_size(aligned), 128);
	qa_dealloc(aligned, 100, 64);
	qa_dealloc(NULL, 24, 8);
	qa_dealloc(NULL, size, align);
}

static void test_figures_are_exact(void **state)
{
	(void)state;
	enum { SMALL = 1000, MIDDLE = 500, LARGE = 3 };
	static void *small[SMALL], *middle[MIDDLE], *large[LARGE];
	struct qa_class_stats small0 = check_row(24), middle0 = check_row(112), large0 = check_row(0);

	for (int i = 0; i < SMALL; i++)
		small[i] = qa_alloc(24, 8);
	for (int i = 0; i < MIDDLE; i++)
		middle[i] = qa_malloc(100);
	for (int i = 0; i < LARGE; i++)
		large[i] = qa_malloc(5000000);
	struct qa_class_stats row = check_row(24);
	assert_int_equal(row.used_blocks, small0.used_blocks + SMALL);
	assert_int_equal(row.allocs, small0.allocs + SMALL);
	assert_int_equal(row.frees, small0.frees);
	row = check_row(112);
	assert_int_equal(row.used_blocks, middle0.used_blocks + MIDDLE);
	assert_int_equal(row.used_bytes, middle0.used_bytes + MIDDLE * 112);
	row = check_row(0);
	assert_int_equal(row.used_blocks, large0.used_blocks + LARGE);
	assert_int_equal(row.used_bytes, large0.used_bytes + LARGE * 5001216);
	assert_int_equal(row.cached_bytes, large0.cached_bytes);
	for (int i = 0; i < SMALL; i++)
		qa_dealloc(small[i], 24, 8);
	for (int i = 0; i < MIDDLE; i++)
		qa_free(middle[i]);
	for (int i = 0; i < LARGE; i++)
		qa_free(large[i]);
	assert_int_equal(check_row(24).used_blocks, small0.used_blocks);
	assert_int_equal(check_row(24).frees, small0.frees + SMALL);
	assert_int_equal(check_row(112).used_blocks, middle0.used_blocks);
	assert_int_equal(check_row(0).held_bytes, large0.held_bytes);
}

static void test_realloc_keeps_contents(void **state)
{
	(void)state;
	static const size_t sizes[] = {1,       17,      100,    1000,  5000,  30000, 40000,
				       1000000, 9000000, 200000, 33000, 20000, 700,   3};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		for (size_t j = 0; j < COUNT(sizes); j++) {
			unsigned char *block = qa_malloc(sizes[i]);
			for (size_t k = 0; k < sizes[i]; k++)
				block[k] = (unsigned char)(k * 7);
			block = qa_realloc(block, sizes[j]);
			assert_non_null(block);
			assert_int_equal((uintptr_t)block % 16, 0);
			assert_true(qa_usable_size(block) >= sizes[j]);
			for (size_t k = 0; k < sizes[i] && k < sizes[j]; k++)
				assert_int_equal(block[k], (unsigned char)(k * 7));
			qa_free(block);
		}
	}
	assert_int_equal(check_row(0).used_blocks, 0);
}

static void test_realloc_edges(void **state)
{
	(void)state;
	volatile size_t huge = SIZE_MAX - 100;
	void *block = qa_realloc(NULL, 100);

	assert_non_null(block);
	assert_null(qa_realloc(block, 0));
	block = qa_alloc(24, 8);
	void *other = qa_alloc(24, 8); /* one of the two is not aligned to 16 */
	block = qa_realloc(block, 20);
	other = qa_realloc(other, 20);
	assert_int_equal((uintptr_t)block % 16 | (uintptr_t)other % 16, 0);
	qa_free(block);
	qa_free(other);
	block = qa_malloc(100);
	errno = 0;
	assert_null(qa_realloc(block, huge));
	assert_int_equal(errno, ENOMEM);
	qa_free(block);
	block = qa_malloc(100000);
	errno = 0;
	assert_null(qa_realloc(block, huge));
	assert_int_equal(errno, ENOMEM);
	qa_free(block);
}

static void test_calloc_is_zero(void **state)
{
	(void)state;

	for (size_t size = 1; size < 300000; size = size * 2 + 1) {
		void *dirty = qa_malloc(size);
		memset(dirty, 0xff, size);
		qa_free(dirty);
		unsigned char *block = qa_calloc(size, 1);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(block[i], 0);
		qa_free(block);
	}
}

static void test_impossible_requests(void **state)
{
	(void)state;
	volatile size_t huge = SIZE_MAX, half = (size_t)PTRDIFF_MAX + 1;

	errno = 0;
	assert_null(qa_malloc(huge));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(qa_malloc(half));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(qa_calloc(huge / 2, 3));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_null(qa_alloc(huge, 16));
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	volatile size_t align = 24;
	assert_null(qa_alloc(10, align));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(qa_aligned_alloc(align, 10));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	align = (size_t)1 << 62;
	assert_null(qa_aligned_alloc(align, 10));
	assert_int_equal(errno, ENOMEM);
}

static void test_free_keeps_errno(void **state)
{
	(void)state;
	void *block = qa_malloc(10), *large = qa_malloc(1000000);

	errno = ERANGE;
	qa_free(block);
	qa_free(large);
	qa_free(NULL);
	qa_dealloc(qa_alloc(40, 8), 40, 8);
	assert_int_equal(qa_trim(NULL, NULL), 0);
	assert_int_equal(errno, ERANGE);
	assert_int_equal(qa_usable_size(NULL), 0);
}

static void test_trim_returns_everything(void **state)
{
	(void)state;
	enum { BLOCKS = 100000 };
	static void *blocks[BLOCKS];
	struct qa_trim_result result;

	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = qa_malloc((size_t)(i % 900));
	for (int i = 0; i < BLOCKS; i++)
		qa_free(blocks[i]);
	assert_int_equal(qa_trim(NULL, &result), 0);
	assert_true(result.returned_bytes > 0);
	assert_int_equal(result.held_after_bytes, 0);
	assert_int_equal(result.cached_after_bytes, 0);
	assert_int_equal(result.held_before_bytes, result.returned_bytes);
	assert_int_equal(result.threads_skipped, 0);
	struct qa_trim_options options = {.size = sizeof options};
	assert_int_equal(qa_trim(&options, &result), 0);
	assert_int_equal(result.returned_bytes, 0);
	options.flags = 1;
	assert_int_equal(qa_trim(&options, &result), -EINVAL);
}

static void test_settings_are_late(void **state)
{
	(void)state;

	assert_int_equal(qa_set("QA_PAGE_SIZE", "128K"), -EBUSY);
	assert_int_equal(qa_set("QA_PAGE_SIZE", "100K"), -EINVAL);
	assert_int_equal(qa_set("QA_PAGE_SIZE", "99999999999999999999"), -EINVAL);
	assert_int_equal(qa_set("QA_NAME", ""), -EINVAL);
	assert_int_equal(qa_set("QA_NAME", "a label"), 0);
	assert_int_equal(qa_set("QA_AGENT", "maybe"), -EINVAL);
	assert_int_equal(qa_set("QA_NOTHING", "1"), -EINVAL);
	assert_int_equal(qa_set(NULL, NULL), -EINVAL);
	assert_string_equal(qa_version(), "0.1.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment_and_size_of_every_call),
		cmocka_unit_test(test_constant_sizes_and_calls_agree),
		cmocka_unit_test(test_figures_are_exact),
		cmocka_unit_test(test_realloc_keeps_contents),
		cmocka_unit_test(test_realloc_edges),
		cmocka_unit_test(test_calloc_is_zero),
		cmocka_unit_test(test_impossible_requests),
		cmocka_unit_test(test_free_keeps_errno),
		cmocka_unit_test(test_trim_returns_everything),
		cmocka_unit_test(test_settings_are_late),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
