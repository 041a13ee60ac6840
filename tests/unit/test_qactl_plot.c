/*
 * qactl's plots: which point a column shows, round scales, how cells are filled, and whole pictures.
 */
#include "test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "plot_print.h"
#include "text.h"

static const struct plot_point points[] = {{1000, 10, 0, 20}, {2000, 30, 5, 40}, {3000, 20, 15, 40}, {9000, 7, 0, 9}};

static bool column_of(uint64_t from_ms, uint64_t to_ms, struct plot_point *column)
{
	return plot_column(points, COUNT(points), from_ms, to_ms, 2500, column);
}

static void test_a_column_shows_the_most(void **state)
{
	struct plot_point column;

	(void)state;
	assert_false(column_of(0, 1000, &column));
	assert_true(column_of(0, 5000, &column) && column.time_ms == 2000);
	assert_true(column_of(2500, 9000, &column) && column.time_ms == 3000);
	assert_true(column_of(1000, 1001, &column) && column.time_ms == 1000);
	assert_false(plot_column(points, 0, 0, 9000, 2500, &column));
}

static void test_a_column_between_points_shows_the_one_before(void **state)
{
	struct plot_point column;

	(void)state;
	assert_true(column_of(1001, 1500, &column) && column.time_ms == 1000);
	assert_true(column_of(5500, 5600, &column) && column.time_ms == 3000);
	assert_false(column_of(5501, 5600, &column));
	assert_true(column_of(9001, 9002, &column) && column.time_ms == 9000);
}

static void test_scales_are_round(void **state)
{
	(void)state;
	for (uint64_t most = 0; most < 3000000; most += 997) {
		for (uint64_t steps = 1; steps < 12; steps++) {
			uint64_t step = plot_step_bytes(most, steps), top = plot_top_bytes(most, step);

			assert_int_equal(step & (step - 1), 0);
			assert_true(top >= most && top > 0 && top % step == 0 && top / step <= steps);
			assert_true(step == 1 || most > step / 2 * steps);
		}
	}
	assert_true(plot_step_bytes(UINT64_MAX, 1) > 0);
	assert_int_equal(plot_step_s(8000, 5), 2);
	assert_int_equal(plot_step_s(900000, 6), 300);
	assert_int_equal(plot_step_s(21600000, 4), 7200);
	assert_int_equal(plot_step_s(0, 4), 1);
	assert_true(plot_step_s(UINT64_MAX, 4) >= UINT64_MAX / 1000 / 5);
}

static void test_cells_add_up(void **state)
{
	enum { ROWS = 7, TOP = 1000 };

	(void)state;
	for (uint64_t used = 0; used <= TOP; used += 13) {
		for (uint64_t cached = 0; used + cached <= TOP; cached += 17) {
			struct plot_point column = {.used_bytes = used, .cached_bytes = cached, .rss_bytes = used};
			unsigned used_eighths = 0, held_eighths = 0, lines = 0;

			for (size_t row = 0; row < ROWS; row++) {
				struct plot_cell cell = plot_cell(&column, row, ROWS, TOP);

				assert_true(cell.used + cell.cached <= 8);
				used_eighths += cell.used;
				held_eighths += cell.used + cell.cached;
				lines += cell.is_rss;
			}
			assert_int_equal(lines, 1);
			assert_int_equal(used_eighths, (used * ROWS * 8 * 2 + TOP) / (2 * TOP));
			assert_int_equal(held_eighths, ((used + cached) * ROWS * 8 * 2 + TOP) / (2 * TOP));
		}
	}
}

static char *print(const struct plot_data *data, const struct terminal *terminal)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	plot_print(out, data, terminal, "");
	fclose(out);
	return text;
}

static struct plot_point story[] = {
	{0, 8 << 20, 0, 9 << 20},     {10000, 28 << 20, 2 << 20, 32 << 20}, {20000, 2 << 20, 28 << 20, 32 << 20},
	{30000, 2 << 20, 0, 3 << 20}, {60000, 4 << 20, 4 << 20, 10 << 20},
};

static const struct plot_data story_data = {
	.label = "docview",
	.pid = 42,
	.points = story,
	.count = COUNT(story),
	.marks = {{29500, 28 << 20}, {90000, 1}},
	.mark_count = 2,
	.from_ms = 0,
	.to_ms = 60000,
	.gap_ms = 15000,
};

static void test_a_picture_in_ascii(void **state)
{
	static const struct terminal terminal = {.columns = 40, .lines = 13};
	char *text = print(&story_data, &terminal);

	(void)state;
	assert_string_equal(text, "docview, pid 42, 00:00:00 to 00:01:00\n"
				  "# used 4.0M  : cached 4.0M  - rss 10.0M\n"
				  "  32.0 MiB +    ----------\n"
				  "           |    #####:::::\n"
				  "           |    #####:::::\n"
				  "  16.0 MiB +    #####:::::\n"
				  "           |    #####:::::\n"
				  "           |----#####:::::             -\n"
				  "           |#########:::::             :\n"
				  "       0 B +##############--------     #\n"
				  "           ++------------^-------------+\n"
				  "            00:00:00\n"
				  "            ^ trim 00:00:29: 28.0 MiB\n");
	free(text);
}

/* Counts lines, and the widest in columns; escape sequences take none. */
static void measure(char *text, size_t *lines, size_t *columns)
{
	*lines = *columns = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char plain[4000];
		size_t used = 0;

		for (const char *at = line; *at; at++) {
			if (*at == '\033')
				at = strchr(at, 'm');
			else
				plain[used++] = *at;
		}
		plain[used] = '\0';
		++*lines;
		if (text_width(plain) > *columns)
			*columns = text_width(plain);
	}
}

static void test_it_fits_every_size(void **state)
{
	(void)state;
	for (size_t columns = PLOT_COLUMNS_LEAST; columns < 200; columns += 7) {
		for (size_t lines = PLOT_LINES_LEAST; lines < 60; lines += 5) {
			for (int form = 0; form < 4; form++) {
				struct terminal terminal = {.columns = columns,
							    .lines = lines,
							    .is_utf8 = form & 1,
							    .has_colours = form & 2};
				char *text = print(&story_data, &terminal);
				size_t text_lines, text_columns;

				assert_int_equal(strchr(text, '\033') != NULL, terminal.has_colours);
				measure(text, &text_lines, &text_columns);
				assert_int_equal(text_lines, lines);
				assert_true(text_columns <= columns);
				free(text);
			}
		}
	}
}

static void test_odd_data(void **state)
{
	struct plot_point huge = {5, UINT64_MAX / 4, 0, UINT64_MAX / 2}, nothing = {5, 0, 0, 0};
	struct plot_data data = {.label = "x", .count = 1, .points = &huge, .from_ms = 5, .to_ms = 5};
	struct terminal terminal = {.columns = 60, .lines = 20, .is_utf8 = true, .has_colours = true};

	(void)state;
	free(print(&data, &terminal));
	data.points = &nothing;
	free(print(&data, &terminal));
	memset(data.label, 'x', sizeof(data.label) - 1);
	free(print(&data, &terminal));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_column_shows_the_most),
		cmocka_unit_test(test_a_column_between_points_shows_the_one_before),
		cmocka_unit_test(test_scales_are_round),
		cmocka_unit_test(test_cells_add_up),
		cmocka_unit_test(test_a_picture_in_ascii),
		cmocka_unit_test(test_it_fits_every_size),
		cmocka_unit_test(test_odd_data),
	};

	setenv("TZ", "UTC", 1);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
