/*
 * qactl's tables, escaped names and sizes, where the end-to-end tests can not reach: wide characters between columns,
 * cells that are cut, every size.
 */
#include "test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size.h"
#include "table.h"
#include "text.h"

struct row {
	const char *left, *middle, *right;
};

static void format_left(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%s", ((const struct row *)row)->left);
}

static void format_middle(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%s", ((const struct row *)row)->middle);
}

static void format_right(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%s", ((const struct row *)row)->right);
}

static const struct table_column columns[] = {
	{"N", TABLE_RIGHT, format_left},
	{"MIDDLE", TABLE_LEFT, format_middle},
	{"LAST", TABLE_LEFT, format_right},
};

static void assert_table(const struct row *rows, size_t count, size_t column_count, const char *expected)
{
	struct table table = {columns, column_count, rows, sizeof(*rows), count};
	char *text = NULL;
	size_t text_bytes = 0;
	FILE *out = open_memstream(&text, &text_bytes);

	assert_non_null(out);
	table_print(out, &table);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_columns_line_up(void **state)
{
	static const struct row rows[] = {{"1", "short", "x"}, {"1000", "longer than", "y"}};

	(void)state;
	assert_table(rows, 2, 3,
		     "   N  MIDDLE       LAST\n"
		     "   1  short        x\n"
		     "1000  longer than  y\n");
	assert_table(rows, 0, 3, "N  MIDDLE  LAST\n");
}

static void test_wide_and_combining_characters(void **state)
{
	static const struct row rows[] = {
		{"1", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5", "wide"}, /* four of two columns */
		{"2", "e\xcc\x81t\xc3\xa9", "accents"},                            /* three columns in six bytes */
	};

	(void)state;
	assert_table(rows, 2, 3,
		     "N  MIDDLE    LAST\n"
		     "1  \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5  wide\n"
		     "2  e\xcc\x81t\xc3\xa9       accents\n");
}

static void test_no_line_ends_in_a_space(void **state)
{
	static const struct row rows[] = {{"1", "", ""}, {"2", "middle", ""}, {"3", "", "last"}};

	(void)state;
	assert_table(rows, 3, 3,
		     "N  MIDDLE  LAST\n"
		     "1\n"
		     "2  middle\n"
		     "3          last\n");
	assert_table(rows, 3, 2,
		     "N  MIDDLE\n"
		     "1\n"
		     "2  middle\n"
		     "3\n");
}

/* Whatever the room, what is there is the start of the whole, ends between characters and has a NUL. */
static void test_an_escaped_text_is_cut_between_characters(void **state)
{
	static const char text[] = "a\x1b\xc3\xa9\\\xe2\x80\xae\xff!";
	static const char whole[] = "a\\x1b\xc3\xa9\\\\\\u{202e}\\xff!";
	static const size_t ends[] = {0, 1, 5, 7, 9, 17, 21, 22};

	(void)state;
	for (size_t room = 1; room <= sizeof(whole); room++) {
		char *out = malloc(room);
		size_t end = 0;

		assert_non_null(out);
		for (size_t i = 0; i < COUNT(ends); i++)
			if (ends[i] < room)
				end = ends[i];
		text_escape(out, room, text);
		assert_int_equal(strlen(out), end);
		assert_memory_equal(out, whole, end);
		free(out);
	}
}

/* "1023.9 KiB" is the longest number of a unit; no size has four digits and a unit above KiB of 1024. */
static void test_each_size_fits_its_unit(void **state)
{
	char text[SIZE_TEXT];

	(void)state;
	for (int shift = 0; shift < 64; shift++) {
		for (int delta = -70000; delta <= 70000; delta += 7) {
			uint64_t bytes = (UINT64_C(1) << shift) + (uint64_t)(int64_t)delta;

			size_format(bytes, text, sizeof(text));
			assert_true(strtod(text, NULL) < 1024 || bytes < 1024);
			assert_true(strlen(text) <= strlen("1023.9 KiB"));
		}
	}
	size_format(1048524, text, sizeof(text));
	assert_string_equal(text, "1023.9 KiB");
	size_format(1048525, text, sizeof(text));
	assert_string_equal(text, "1.0 MiB");
}

static void test_durations(void **state)
{
	char text[SIZE_TEXT];

	(void)state;
	size_format_duration(999, text, sizeof(text));
	assert_string_equal(text, "999 us");
	size_format_duration(1000, text, sizeof(text));
	assert_string_equal(text, "1.0 ms");
	size_format_duration(999949, text, sizeof(text));
	assert_string_equal(text, "999.9 ms");
	size_format_duration(999950, text, sizeof(text));
	assert_string_equal(text, "1.0 s");
	size_format_age(999, text, sizeof(text));
	assert_string_equal(text, "999 ms");
	size_format_age(60000, text, sizeof(text));
	assert_string_equal(text, "1m00s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_line_up),
		cmocka_unit_test(test_wide_and_combining_characters),
		cmocka_unit_test(test_no_line_ends_in_a_space),
		cmocka_unit_test(test_an_escaped_text_is_cut_between_characters),
		cmocka_unit_test(test_each_size_fits_its_unit),
		cmocka_unit_test(test_durations),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
