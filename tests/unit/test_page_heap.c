/*
 * The order of a class's pages: whatever is inserted and removed, the root is the fullest page, and the lowest of the
 * fullest.
 */
#include "test.h"

#include <stdlib.h>

#include "page_heap.h"

enum { PAGES = 200 };

static struct page pages[PAGES];

/* The best page by looking at all. */
static struct page *best_of_all(void)
{
	struct page *best = NULL;

	for (int i = 0; i < PAGES; i++) {
		struct page *page = &pages[i];
		if (page->place == PAGE_IN_HEAP && (!best || page->fullness > best->fullness ||
						    (page->fullness == best->fullness && page->base < best->base)))
			best = page;
	}
	return best;
}

static void reset(void)
{
	for (int i = 0; i < PAGES; i++)
		pages[i] = (struct page){.base = (char *)(uintptr_t)((i + 1) * 65536)};
}

static void test_random_inserts_and_removes(void **state)
{
	(void)state;
	struct page_heap heap = {NULL};

	reset();
	srand(1);
	for (int step = 0; step < 20000; step++) {
		struct page *page = &pages[rand() % PAGES];
		if (page->place == PAGE_IN_HEAP) {
			page_heap_remove(&heap, page);
		} else {
			page->fullness = (uint8_t)(rand() % 9);
			page_heap_insert(&heap, page);
		}
		assert_ptr_equal(heap.root, best_of_all());
	}
}

static void test_root_goes_in_order(void **state)
{
	(void)state;
	struct page_heap heap = {NULL};

	reset();
	for (int i = 0; i < PAGES; i++) {
		pages[i].fullness = (uint8_t)(i * 7 % 9);
		page_heap_insert(&heap, &pages[i]);
	}
	struct page *last = NULL;
	for (int i = 0; i < PAGES; i++) {
		struct page *page = heap.root;
		assert_non_null(page);
		if (last)
			assert_true(page->fullness < last->fullness ||
				    (page->fullness == last->fullness && page->base > last->base));
		page_heap_remove(&heap, page);
		assert_int_equal(page->place, PAGE_FULL);
		last = page;
	}
	assert_null(heap.root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_inserts_and_removes),
		cmocka_unit_test(test_root_goes_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
