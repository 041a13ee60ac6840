/*
 * What qactl writes for programs and reads from people: CSV fields, numbers, sizes of few characters.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "number.h"
#include "size.h"

static void assert_field(const char *text, const char *expected)
{
	char *written = NULL, *whole = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&written, &bytes);
	struct csv csv = {.out = out};

	assert_non_null(out);
	csv_text(&csv, text);
	csv_u64(&csv, UINT64_MAX);
	csv_empty(&csv);
	csv_end_line(&csv);
	csv_u64(&csv, 0);
	fclose(out);
	assert_true(asprintf(&whole, "%s,18446744073709551615,\r\n0", expected) > 0);
	assert_string_equal(written, whole);
	free(written);
	free(whole);
}

static void test_csv_fields(void **state)
{
	(void)state;
	assert_field("", "");
	assert_field("plain text", "plain text");
	assert_field("a,b", "\"a,b\"");
	assert_field("\"", "\"\"\"\"");
	assert_field(" x", "\" x\"");
	assert_field("a\r\nb", "a\\x0d\\x0ab");
	assert_field("\\\x7f\x1f", "\\\\\\x7f\\x1f");
	assert_field("\xc2\x9b \xc2\xa0 \xe2\x82\xac", "\\u{9b} \xc2\xa0 \xe2\x82\xac");
	assert_field("a\xe2\x80\xae"
		     "b \xf3\xa0\x80\x81 \xf0\x9f\x98\x80",
		     "a\\u{202e}b \\u{e0001} \xf0\x9f\x98\x80");
	assert_field("\xff,\xe2\x82", "\"\\xff,\\xe2\\x82\"");
}

static void test_numbers(void **state)
{
	static const char *const bad[] = {
		"", "-1", "+1", " 1", "1 ", "x", "1x", "1KK", "18446744073709551616", "17179869184G"};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(number_read(bad[i], &value));
	assert_true(number_read("18446744073709551615", &value) && value == UINT64_MAX);
	assert_true(number_read("3M", &value) && value == 3 << 20);
	assert_false(number_read_cells("0", &value));
	assert_false(number_read_cells("1001", &value));
	assert_true(number_read_cells("1000", &value) && value == 1000);
}

static void test_times(void **state)
{
	static const char *const bad[] = {"", "nan", "inf", "-1", "0", "0.0004", "1x", "1ms", "1e99", "s"};
	uint64_t value;
	double factor;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(number_read_time(bad[i], &value));
	assert_true(number_read_time("0.25", &value) && value == 250);
	assert_true(number_read_time("90s", &value) && value == 90000);
	assert_true(number_read_time("1.5h", &value) && value == 5400000);
	assert_true(number_read_interval("1d", &value) && value == 86400000);
	assert_false(number_read_interval("86401", &value));
	assert_false(number_read_seconds("0.5", &value));
	assert_true(number_read_seconds("5m", &value) && value == 300);
	assert_false(number_read_factor("0", &factor) || number_read_factor("nan", &factor) ||
		     number_read_factor("-1", &factor));
	assert_true(number_read_factor("2.5", &factor) && factor == 2.5);
}

static void test_short_sizes_have_seven_characters(void **state)
{
	char text[SIZE_TEXT];

	(void)state;
	for (int shift = 0; shift < 64; shift++) {
		for (int delta = -3; delta <= 3; delta++) {
			uint64_t value = (UINT64_C(1) << shift) + (uint64_t)(int64_t)delta;

			size_format_short(value, text, sizeof(text));
			assert_true(strlen(text) <= 7);
			size_format_count(value, text, sizeof(text));
			assert_true(strlen(text) <= 7);
		}
	}
	size_format_short(1048525, text, sizeof(text));
	assert_string_equal(text, "1.0M");
	size_format_short(1023, text, sizeof(text));
	assert_string_equal(text, "1023B");
	size_format_count(999999, text, sizeof(text));
	assert_string_equal(text, "999999");
	size_format_count(999949999, text, sizeof(text));
	assert_string_equal(text, "999.9M");
	size_format_count(999950001, text, sizeof(text));
	assert_string_equal(text, "1.0G");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv_fields),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_short_sizes_have_seven_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
