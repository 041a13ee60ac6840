/*
 * Sizes and alignments that no machine has: NULL and ENOMEM, whatever is asked for, and nothing else has changed.
 */
#include "stress.h"

#include <errno.h>

enum { MIB = 1 << 20 };

static void refused(void *block)
{
	expect_true(block == NULL);
	expect_equal(errno, ENOMEM);
	errno = 0;
}

static void test_sizes_that_overflow(void **state)
{
	(void)state;
	volatile size_t huge[] = {SIZE_MAX,        SIZE_MAX - 1,          SIZE_MAX - 15,
				  SIZE_MAX - 4096, SIZE_MAX - (64 << 10), (size_t)PTRDIFF_MAX + 1,
				  PTRDIFF_MAX,     PTRDIFF_MAX - 4096,    (size_t)1 << 62};
	void *block = qa_malloc(100), *large = qa_malloc(MIB);
	stress_fill(block, 100, 1);
	stress_fill(large, MIB, 1);
	struct qa_stats before = stress_figures();

	errno = 0;
	for (size_t i = 0; i < COUNT(huge); i++) {
		refused(qa_malloc(huge[i]));
		refused(qa_calloc(huge[i], 1));
		refused(qa_calloc(1, huge[i]));
		refused(qa_calloc(huge[i], huge[i]));
		refused(qa_calloc(huge[i] / 8, 24));
		refused(qa_realloc(block, huge[i]));
		refused(qa_realloc(large, huge[i]));
		refused(qa_realloc(NULL, huge[i]));
		for (size_t align = 1; align != 0; align <<= 1) {
			refused(qa_alloc(huge[i], align));
			refused(qa_aligned_alloc(align, huge[i]));
		}
		refused(qa_alloc(huge[i], 8));
		refused(qa_alloc(huge[i], 16));
	}
	for (size_t align = (size_t)1 << 47; align != 0; align <<= 1)
		refused(qa_aligned_alloc(align, 1));
	stress_check(block, 100, 1);
	stress_check(large, MIB, 1);
	struct qa_stats after = stress_figures();
	assert_int_equal(after.used_bytes, before.used_bytes);
	assert_int_equal(after.allocs, before.allocs);
	qa_free(block);
	qa_free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_that_overflow),
	};

	stress_watch(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
