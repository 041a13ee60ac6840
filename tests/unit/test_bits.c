/*
 * Runs of bits against the same done bit by bit, for every run in three words.
 */
#include "test.h"

#include <string.h>

#include "bits.h"

enum { WORDS = 3, BITS = WORDS * 64 };

static void fill(uint64_t bits[WORDS], uint64_t pattern)
{
	for (int i = 0; i < WORDS; i++)
		bits[i] = pattern;
}

static void test_a_run_changes_and_no_other_bit(void **state)
{
	static const uint64_t patterns[] = {0, ~(uint64_t)0, 0x5555555555555555};
	(void)state;
	for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
		for (uint32_t first = 0; first <= BITS; first++)
			for (uint32_t end = first; end <= BITS; end++)
				for (int value = 0; value < 2; value++) {
					uint64_t bits[WORDS], expected[WORDS];
					fill(bits, patterns[p]);
					fill(expected, patterns[p]);
					for (uint32_t i = first; i < end; i++) {
						expected[i / 64] &= ~((uint64_t)1 << (i % 64));
						expected[i / 64] |= (uint64_t)value << (i % 64);
					}
					bits_change(bits, first, end, value);
					assert_memory_equal(bits, expected, sizeof bits);
				}
}

static void test_a_run_is_set_when_each_bit_is(void **state)
{
	(void)state;
	for (uint32_t clear = 0; clear < BITS; clear++) {
		uint64_t bits[WORDS];
		fill(bits, ~(uint64_t)0);
		bits_change(bits, clear, clear + 1, false);
		assert_false(bits_get(bits, clear));
		for (uint32_t first = 0; first <= BITS; first++)
			for (uint32_t end = first; end <= BITS; end++)
				assert_int_equal(bits_are_set(bits, first, end), clear < first || clear >= end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_run_changes_and_no_other_bit),
		cmocka_unit_test(test_a_run_is_set_when_each_bit_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
