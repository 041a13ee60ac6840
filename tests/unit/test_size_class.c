/*
 * Size classes: every size gets the smallest class that fits it and its alignment, and what a class wastes stays within
 * the design.
 */
#include "test.h"

#include "size_class.h"

static void test_block_sizes_grow(void **state)
{
	(void)state;
	static const uint32_t some[] = {8,   16,  24,  32,  40,  48,  56,  64,  72,  80,  88,  96,  104,
					112, 120, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320};

	for (unsigned i = 0; i < COUNT(some); i++)
		assert_int_equal(size_classes[i + 1].block_size, some[i]);
	for (unsigned i = 2; i <= QA_CLASSES_; i++)
		assert_true(size_classes[i].block_size > size_classes[i - 1].block_size);
	assert_int_equal(size_classes[QA_CLASSES_].block_size, SIZE_CLASS_MAX_BYTES);
}

static void test_every_size_gets_the_smallest_class(void **state)
{
	(void)state;

	for (size_t size = 1; size <= SIZE_CLASS_MAX_BYTES; size++) {
		unsigned c = qa_class_of_(size);
		assert_in_range(c, 1, QA_CLASSES_);
		assert_true(size_classes[c].block_size >= size);
		assert_true(c == 1 || size_classes[c - 1].block_size < size);
		if (size > 128)
			assert_true((size_classes[c].block_size - size) * 9 <= size_classes[c].block_size);
	}
}

static void test_malloc_classes_are_aligned_to_16(void **state)
{
	(void)state;

	for (size_t size = 0; size <= SIZE_CLASS_MAX_BYTES; size++) {
		unsigned c = size_class_of_malloc(size);
		assert_int_equal(size_classes[c].block_size % 16, 0);
		assert_true(size_classes[c].block_size >= size);
		if (size > 0 && size <= 128)
			assert_int_equal(size_classes[c].block_size, (size + 15) / 16 * 16);
		if (size > 128)
			assert_int_equal(c, qa_class_of_(size));
	}
	assert_int_equal(size_class_of_malloc(SIZE_CLASS_MAX_BYTES + 1), QA_CLASS_LARGE_);
	assert_int_equal(size_class_of_malloc(SIZE_MAX), QA_CLASS_LARGE_);
}

static void test_aligned_classes(void **state)
{
	(void)state;

	for (size_t size = 1; size <= SIZE_CLASS_TABLE_BYTES; size++)
		assert_int_equal(size_class_packed[(size + 7) / 8], size_class_of_aligned(size, 8));
	for (size_t align = 1; align <= 4096; align *= 2) {
		for (size_t size = 0; size <= SIZE_CLASS_MAX_BYTES; size++) {
			unsigned c = size_class_of_aligned(size, align);
			assert_in_range(c, 1, QA_CLASSES_);
			assert_true(size_classes[c].block_size >= size);
			assert_int_equal(size_classes[c].block_size % align, 0);
		}
	}
	assert_int_equal(size_classes[size_class_of_aligned(24, 8)].block_size, 24);
	assert_int_equal(size_classes[size_class_of_aligned(24, 1)].block_size, 24);
	assert_int_equal(size_classes[size_class_of_aligned(24, 16)].block_size, 32);
	assert_int_equal(size_class_of_aligned(8, 8192), QA_CLASS_LARGE_);
	assert_int_equal(size_class_of_aligned(SIZE_MAX, 16), QA_CLASS_LARGE_);
	assert_int_equal(size_class_of_aligned(SIZE_CLASS_MAX_BYTES + 1, 1), QA_CLASS_LARGE_);
}

static void test_pages_of_every_page_size(void **state)
{
	(void)state;

	for (uint32_t page_size = 4 << 10; page_size <= 4 << 20; page_size *= 2) {
		size_class_init(page_size, false);
		for (unsigned i = 1; i <= QA_CLASSES_; i++) {
			const struct size_class *c = &size_classes[i];
			uint64_t page_bytes = (uint64_t)c->span_pages * page_size;
			assert_true(c->page_blocks >= 8);
			assert_true((uint64_t)c->page_blocks * c->block_size <= page_bytes);
			assert_true(page_bytes - (uint64_t)c->page_blocks * c->block_size < c->block_size);
			assert_in_range(c->batch, 1, 256);
		}
	}
}

static int start(void **state)
{
	(void)state;
	size_class_init(64 << 10, false);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_block_sizes_grow, start),
		cmocka_unit_test_setup(test_every_size_gets_the_smallest_class, start),
		cmocka_unit_test_setup(test_malloc_classes_are_aligned_to_16, start),
		cmocka_unit_test_setup(test_aligned_classes, start),
		cmocka_unit_test_setup(test_pages_of_every_page_size, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
