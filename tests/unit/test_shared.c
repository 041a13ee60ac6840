/*
 * Shared pages, the space below and the slots between threads, without thread caches: blocks are distinct and inside
 * their page, the counts follow each step, empty pages are found again, go back to the OS and come anew.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "fatal.h"
#include "init.h"
#include "page_map.h"
#include "shared.h"
#include "space.h"
#include "transfer.h"

static unsigned class_of(size_t size)
{
	return qa_class_of_(size);
}

static int by_address(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t) * (void *const *)a, right = (uintptr_t) * (void *const *)b;
	return left < right ? -1 : left > right;
}

static void test_blocks_are_distinct(void **state)
{
	(void)state;
	enum { BLOCKS = 10000 };
	static void *blocks[BLOCKS];
	unsigned c = class_of(48);
	uint32_t found = 0;

	while (found < BLOCKS) {
		uint32_t count, most = BLOCKS - found < 100 ? BLOCKS - found : 100;
		void *chain = shared_take(c, most, &count);
		assert_int_equal(count, most);
		for (; chain; chain = *(void **)chain)
			blocks[found++] = chain;
	}
	qsort(blocks, BLOCKS, sizeof *blocks, by_address);
	for (int i = 0; i < BLOCKS; i++) {
		struct page *page = page_map_page(blocks[i]);
		assert_int_equal(page_map_kind(blocks[i]), c);
		assert_int_equal(((char *)blocks[i] - page->base) % 48, 0);
		assert_true((char *)blocks[i] + 48 <= page->base + space_page_size_bytes());
		if (i > 0)
			assert_true((char *)blocks[i] - (char *)blocks[i - 1] >= 48);
	}
	struct shared_counts counts = shared_read_counts(c);
	assert_int_equal(counts.out_blocks, BLOCKS);
	assert_int_equal(counts.covered_blocks, counts.pages * size_classes[c].page_blocks);
	for (int i = 0; i < BLOCKS; i++)
		shared_give_direct(c, blocks[i]);
	counts = shared_read_counts(c);
	assert_int_equal(counts.out_blocks, 0);
	assert_int_equal(counts.covered_blocks, 0);
	assert_int_equal(counts.direct_frees, BLOCKS);
	assert_int_equal(counts.kept_pages, 1);
	assert_int_equal(counts.pages, 1);
	assert_true(space_read_empty(c).pages > 0);
}

static void test_empty_pages_go_back_and_come_anew(void **state)
{
	(void)state;
	unsigned c = class_of(1024);
	uint32_t count;
	void *chain = shared_take(c, 5000, &count);

	assert_int_equal(count, 5000);
	shared_give(c, chain);
	uint64_t empty_pages = space_read_empty(c).pages;
	assert_int_equal(empty_pages, shared_read_counts(c).direct_allocs + (5000 + 63) / 64 - 1);
	shared_release_kept(c);
	assert_int_equal(space_read_empty(c).pages, empty_pages + 1);
	assert_true(space_return_empty(0, UINT64_MAX) >= (empty_pages + 1) * space_page_size_bytes());
	assert_int_equal(space_read_empty(c).pages, 0);
	assert_int_equal(space_return_empty(0, UINT64_MAX), 0);
	chain = shared_take(c, 5000, &count);
	assert_int_equal(count, 5000);
	for (void *block = chain; block; block = *(void **)block)
		memset((char *)block + sizeof(void *), 7, 1024 - sizeof(void *));
	shared_give(c, chain);
}

static void test_an_empty_page_serves_another_class(void **state)
{
	(void)state;
	unsigned from = class_of(512), to = class_of(640);
	uint32_t count;

	shared_release_kept(from);
	space_return_empty(0, UINT64_MAX);
	shared_give(from, shared_take(from, 128 * 3, &count));
	assert_int_equal(space_read_empty(from).pages, 2);
	void *chain = shared_take(to, 1, &count);
	assert_int_equal(space_read_empty(from).pages, 1);
	assert_int_equal(page_map_kind(chain), to);
	shared_give(to, chain);
}

static void test_large_classes_span_several_units(void **state)
{
	(void)state;
	unsigned c = class_of(32 << 10);
	uint32_t count;
	void *chain = shared_take(c, 20, &count);

	assert_int_equal(count, 20);
	assert_int_equal(size_classes[c].span_pages * (uint64_t)space_page_size_bytes(), 8 * (32 << 10));
	for (void *block = chain; block; block = *(void **)block) {
		struct page *page = page_map_page(block);
		assert_int_equal(page_map_kind(block), c);
		assert_int_equal(((char *)block - page->base) % (32 << 10), 0);
	}
	shared_give(c, chain);
	assert_int_equal(shared_read_counts(c).out_blocks, 0);
}

static void test_the_fullest_page_serves_first(void **state)
{
	(void)state;
	unsigned c = class_of(2048);
	uint32_t per_page = size_classes[c].page_blocks, count;
	void *blocks[96];

	assert_int_equal(per_page, 32);
	for (int i = 0; i < 96; i++)
		blocks[i] = shared_take(c, 1, &count);
	struct page *first = page_map_page(blocks[0]), *second = page_map_page(blocks[32]);
	for (int i = 0; i < 24; i++)
		shared_give_direct(c, blocks[i]);
	for (int i = 32; i < 36; i++)
		shared_give_direct(c, blocks[i]);
	for (int i = 32; i < 36; i++)
		assert_ptr_equal(page_map_page(blocks[i] = shared_take(c, 1, &count)), second);
	assert_ptr_equal(page_map_page(blocks[0] = shared_take(c, 1, &count)), first);
	shared_give_direct(c, blocks[0]);
	for (int i = 24; i < 96; i++)
		shared_give_direct(c, blocks[i]);
	assert_int_equal(shared_read_counts(c).out_blocks, 0);
}

static void test_transfer_keeps_whole_batches(void **state)
{
	(void)state;
	unsigned c = class_of(64);
	uint32_t count, put = 0;
	void *chains[32];

	for (int i = 0; i < 32; i++)
		chains[i] = shared_take(c, 10 + (uint32_t)i, &count);
	while (put < 32 && transfer_put(c, chains[put], 10 + put))
		put++;
	assert_in_range(put, 1, 31);
	uint64_t expected = 0;
	for (uint32_t i = 0; i < put; i++)
		expected += 10 + i;
	assert_int_equal(transfer_blocks(c), expected);
	for (void *chain; (chain = transfer_take(c, &count)) != NULL; put--) {
		uint32_t length = 0;
		for (void *block = chain; block; block = *(void **)block)
			length++;
		assert_int_equal(length, count);
		expected -= count;
		shared_give(c, chain);
	}
	assert_int_equal(expected, 0);
	assert_int_equal(put, 0);
}

/* What a chunk without pages gives back of its blocks' bits: all of them, whatever their grain. */
static void test_bits_of_a_chunk_are_whole_os_pages(void **state)
{
	(void)state;
	for (unsigned grain = 0; grain < SIZE_CLASS_GRAINS; grain++) {
		size_t bits = (size_t)space_page_size_bytes() / size_class_grains[grain];
		assert_true(page_map_far_words[grain] * 64 >= bits);
		assert_int_equal(space_chunk_units() * page_map_far_words[grain] * sizeof(uint64_t) % 4096, 0);
	}
}

static int start(void **state)
{
	(void)state;
	return init_ensure() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_are_distinct),
		cmocka_unit_test(test_empty_pages_go_back_and_come_anew),
		cmocka_unit_test(test_an_empty_page_serves_another_class),
		cmocka_unit_test(test_large_classes_span_several_units),
		cmocka_unit_test(test_the_fullest_page_serves_first),
		cmocka_unit_test(test_bits_of_a_chunk_are_whole_os_pages),
		cmocka_unit_test(test_transfer_keeps_whole_batches),
	};
	return cmocka_run_group_tests(tests, start, NULL);
}
