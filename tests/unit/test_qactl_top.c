/*
 * The parts of qactl top that need neither a terminal nor qad: columns on screens of every width, rates, filter, order
 * and selection, the line in which one types. Bars and trends: test_qactl_trend.c.
 */
#include "test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size.h"
#include "text.h"
#include "top/columns.h"
#include "top/keys.h"
#include "top/layout.h"
#include "top/process.h"
#include "top/prompt.h"
#include "top/view.h"

static void test_columns_fit_every_width(void **state)
{
	struct view view;
	int widths[COLUMNS_MOST], last = 0;

	(void)state;
	columns_view_processes(&view);
	for (int width = 1; width < 300; width++) {
		int sum = -1, shown = 0;

		column_fit(&view.set, width, widths);
		for (size_t i = 0; i < view.set.count; i++)
			if (widths[i] > 0) {
				sum += widths[i] + 1;
				shown++;
			}
		assert_true(shown >= 1 && sum <= width);
		last = shown;
	}
	assert_int_equal(last, view.set.count);
	column_fit(&view.set, 80, widths);
	for (const char *const *name =
		     (const char *const[]){"pid", "held", "used", "cached", "rss", "growth", "command", NULL};
	     *name; name++)
		assert_true(widths[column_find(&view.set, *name)] > 0);
}

static void test_a_column_is_found_by_the_mouse(void **state)
{
	static const struct column columns[] = {{.title = "A"}, {.title = "B"}, {.title = "C"}};
	struct column_set set = {columns, 3};
	int widths[COLUMNS_MOST] = {3, 0, 2};

	(void)state;
	assert_int_equal(column_at(&set, widths, 0), 0);
	assert_int_equal(column_at(&set, widths, 2), 0);
	assert_int_equal(column_at(&set, widths, 3), -1);
	assert_int_equal(column_at(&set, widths, 4), 2);
	assert_int_equal(column_at(&set, widths, 6), -1);
	assert_int_equal(column_at(&set, widths, -1), -1);
}

static void test_sorting_goes_around_the_columns(void **state)
{
	struct view view;
	size_t column, seen = 0;

	(void)state;
	columns_view_processes(&view);
	column = view.sort;
	do {
		size_t next = column_next(&view.set, column, 1);

		assert_non_null(view.set.columns[next].name);
		assert_int_equal(column_next(&view.set, next, -1), column);
		column = next;
		seen++;
	} while (column != view.sort);
	assert_int_equal(seen, view.set.count - 2); /* not the bar and the trend */
}

static void set_process(struct process *process, uint64_t pid, uint64_t used, uint64_t cached, const char *command)
{
	memset(process, 0, sizeof(*process));
	process->target.pid = pid;
	process->target.has_figures = true;
	process->target.totals.used_bytes = used;
	process->target.totals.cached_bytes = cached;
	process->target.totals.held_bytes = used + cached;
	snprintf(process->target.command, sizeof(process->target.command), "%s", command);
	snprintf(process->target.user, sizeof(process->target.user), "someone");
}

static void assert_order(struct view *view, const struct process *rows, size_t count, const char *pids)
{
	char text[100] = "";

	assert_int_equal(view_arrange(view, rows, count), 0);
	for (size_t i = 0; i < view->shown; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i ? " " : "",
			 (int)((const struct process *)view_row(view, i))->target.pid);
	assert_string_equal(text, pids);
}

static void make_rows(struct process rows[4])
{
	set_process(&rows[0], 1, 50, 10, "docview");
	set_process(&rows[1], 2, 10, 30, "Editor");
	set_process(&rows[2], 3, 20, 30, "doctor");
	set_process(&rows[3], 44, 0, 0, "web");
}

static void test_order_and_filter(void **state)
{
	struct process rows[4];
	struct view view;

	(void)state;
	make_rows(rows);
	columns_view_processes(&view);
	assert_order(&view, rows, 4, "2 3 1 44"); /* cached; those that are equal by pid */
	view_sort_by(&view, view.sort);
	assert_order(&view, rows, 4, "44 1 2 3");
	view_sort_by(&view, (size_t)column_find(&view.set, "used"));
	assert_order(&view, rows, 4, "1 3 2 44");
	view_sort_by(&view, (size_t)column_find(&view.set, "percent"));
	assert_order(&view, rows, 4, "2 3 1 44");
	view_sort_by(&view, (size_t)column_find(&view.set, "command"));
	assert_order(&view, rows, 4, "3 1 2 44");
	view_sort_by(&view, (size_t)column_find(&view.set, "pid"));
	assert_order(&view, rows, 4, "1 2 3 44");
	snprintf(view.filter, sizeof(view.filter), "DOC");
	assert_order(&view, rows, 4, "1 3");
	snprintf(view.filter, sizeof(view.filter), "44");
	assert_order(&view, rows, 4, "44");
	snprintf(view.filter, sizeof(view.filter), "someone");
	assert_order(&view, rows, 4, "1 2 3 44");
	snprintf(view.filter, sizeof(view.filter), "nobody");
	assert_order(&view, rows, 4, "");
	assert_null(view_selected(&view));
	view_move(&view, 1);
	view_finish(&view);
}

static uint64_t selected_pid(const struct view *view)
{
	const struct process *process = view_selected(view);

	return process ? process->target.pid : 0;
}

static void test_the_selection_follows_its_row(void **state)
{
	struct process rows[4];
	struct view view;

	(void)state;
	make_rows(rows);
	columns_view_processes(&view);
	assert_order(&view, rows, 4, "2 3 1 44");
	assert_int_equal(selected_pid(&view), 2);
	rows[0].target.totals.cached_bytes = 1000; /* nothing was chosen: it stays on top */
	assert_order(&view, rows, 4, "1 2 3 44");
	assert_int_equal(selected_pid(&view), 1);
	view_move(&view, 2);
	assert_int_equal(selected_pid(&view), 3);
	rows[2].target.totals.cached_bytes = 2000;
	assert_order(&view, rows, 4, "3 1 2 44");
	assert_int_equal(selected_pid(&view), 3);
	/* It is away: the place stays. It comes back: it is selected again. */
	view_select(&view, 2);
	assert_order(&view, rows, 1, "1");
	assert_int_equal(selected_pid(&view), 1);
	assert_order(&view, rows, 4, "3 1 2 44");
	assert_int_equal(selected_pid(&view), 2);
	view_move(&view, -100);
	assert_int_equal(view.selected, 0);
	view_move(&view, 100);
	assert_int_equal(view.selected, 3);
	view_finish(&view);
}

static void test_the_selected_row_is_on_the_screen(void **state)
{
	struct process rows[100];
	struct view view;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		set_process(&rows[i], i + 1, 0, 0, "x");
	columns_view_processes(&view);
	assert_int_equal(view_arrange(&view, rows, COUNT(rows)), 0);
	for (long step = -40; step <= 40; step++)
		for (size_t height = 0; height < 30; height++) {
			view_move(&view, step);
			view_scroll(&view, height);
			if (height > 0)
				assert_true(view.selected >= view.first && view.selected < view.first + height);
			assert_true(view.first + height <= COUNT(rows));
		}
	view_finish(&view);
}

static void test_every_screen_has_a_layout(void **state)
{
	struct view view;

	(void)state;
	columns_view_processes(&view);
	for (int page = TOP_LIST; page <= TOP_HELP; page++)
		for (int height = 0; height < 70; height++)
			for (int width = 0; width < 90; width += 7) {
				struct layout layout;

				layout_make(&layout, page, &view.set, width, height);
				if (width == 0 || height == 0) {
					assert_true(layout.foot < 0 && layout.rows < 0 && layout.row_count == 0);
					continue;
				}
				assert_true(layout.row_count >= 1 && layout.rows + layout.row_count <= height);
				assert_true(layout.foot < 0 || layout.rows + layout.row_count == layout.foot);
				assert_true(layout.titles < 0 || layout.titles == layout.head);
				if (height >= 24)
					assert_int_equal(layout.head, page == TOP_LIST      ? LAYOUT_HEAD_OF_LIST
								      : page == TOP_PROCESS ? LAYOUT_HEAD_OF_PROCESS
											    : 0);
			}
}

static struct target figures_of(uint64_t pid, uint64_t allocs, uint64_t frees, uint64_t held, uint64_t uptime_s)
{
	struct target target = {.pid = pid, .has_figures = true, .uptime_s = uptime_s};

	target.totals.allocs = allocs;
	target.totals.frees = frees;
	target.totals.held_bytes = held;
	return target;
}

static void test_rates(void **state)
{
	struct target first = figures_of(7, 1000, 500, 4096, 10), second = figures_of(7, 3000, 500, 2048, 12);
	struct process process;

	(void)state;
	memset(&process, 0, sizeof(process));
	process_update(&process, &first, 100000);
	assert_false(process.has_rates);
	second.age_ms = 500; /* they are 1500 ms apart */
	process_update(&process, &second, 102000);
	assert_true(process.has_rates);
	assert_int_equal(process.allocs_s * 3, 4000);
	assert_int_equal(process.frees_s, 0);
	assert_int_equal(process.growth_s * 3, -4096);
	/* The same figures once more say nothing new. */
	second.age_ms = 1500;
	process_update(&process, &second, 103000);
	assert_int_equal(process.allocs_s * 3, 4000);
	/* The pid is used again. */
	second = figures_of(7, 9000, 900, 2048, 1);
	process_update(&process, &second, 104000);
	assert_false(process.has_rates);
	second.is_silent = true;
	process_update(&process, &second, 105000);
	assert_false(process.has_rates);
}

static void test_typing(void **state)
{
	struct prompt prompt;
	unsigned ms;

	(void)state;
	prompt_begin(&prompt, PROMPT_FILTER, "a");
	assert_int_equal(prompt_key(&prompt, 0xe9), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "a\xc3\xa9");
	assert_int_equal(prompt_key(&prompt, KEYS_UP), PROMPT_GOES_ON);
	assert_int_equal(prompt_key(&prompt, 7), PROMPT_GOES_ON);
	assert_int_equal(prompt_key(&prompt, KEYS_BACKSPACE), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "a");
	for (int i = 0; i < 200; i++)
		prompt_key(&prompt, 0x20ac);
	assert_int_equal(strlen(prompt.text), 1 + (PROMPT_BYTES - 2) / 3 * 3);
	assert_int_equal(prompt_key(&prompt, 'U' - '@'), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "");
	assert_int_equal(prompt_key(&prompt, KEYS_BACKSPACE), PROMPT_GIVEN_UP);
	assert_int_equal(prompt_key(&prompt, KEYS_ESCAPE), PROMPT_GIVEN_UP);
	assert_int_equal(prompt_key(&prompt, KEYS_ENTER), PROMPT_DONE);
	prompt_begin(&prompt, PROMPT_TRIM, "");
	assert_int_equal(prompt_key(&prompt, 'y'), PROMPT_DONE);
	assert_int_equal(prompt_key(&prompt, KEYS_ENTER), PROMPT_GIVEN_UP);
	assert_int_equal(prompt_key(&prompt, 'n'), PROMPT_GIVEN_UP);
	assert_true(prompt_read_delay("0.1", &ms));
	assert_int_equal(ms, 100);
	assert_true(prompt_read_delay("2", &ms));
	assert_int_equal(ms, 2000);
	for (const char *const *bad = (const char *const[]){"", "x", "0", "0.09", "-1", "nan", "1x", "86401", NULL};
	     *bad; bad++)
		assert_false(prompt_read_delay(*bad, &ms));
}

static void test_a_key_does_one_thing(void **state)
{
	(void)state;
	for (size_t i = 0; i < keys_count; i++)
		for (size_t k = 0; k < COUNT(keys_rows[i].keys); k++)
			if (keys_rows[i].keys[k])
				assert_int_equal(keys_find(keys_rows[i].keys[k]), keys_rows[i].action);
	assert_int_equal(keys_find(0), ACTION_NONE);
	assert_int_equal(keys_find('x'), ACTION_NONE);
}

static void test_short_sizes_fit_five_columns(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *size, *count;
	} cases[] = {
		{0, "0", "0"},
		{999, "999B", "999"},
		{1000, "1000B", "1.0k"},
		{1024, "1.0K", "1.0k"},
		{102348, "99.9K", "102k"},
		{102400, "100K", "102k"},
		{1047551, "1023K", "1.0M"},
		{1048100, "1.0M", "1.0M"},
	};
	char text[SIZE_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_format_brief(cases[i].bytes, text, sizeof(text));
		assert_string_equal(text, cases[i].size);
		size_format_count_brief(cases[i].bytes, text, sizeof(text));
		assert_string_equal(text, cases[i].count);
	}
	for (uint64_t bytes = 1; bytes < UINT64_MAX / 2; bytes += bytes / 7 + 1) {
		size_format_brief(bytes, text, sizeof(text));
		assert_true(strlen(text) <= 5);
		size_format_count_brief(bytes, text, sizeof(text));
		assert_true(strlen(text) <= 5);
	}
	columns_format_growth(-1536.4, text, sizeof(text));
	assert_string_equal(text, "-1.5K");
	columns_format_growth(-0.2, text, sizeof(text));
	assert_string_equal(text, "0");
}

static void test_a_text_is_cut_at_columns(void **state)
{
	static const char text[] = "a\xe6\x97\xa5"
				   "e\xcc\x81!"; /* one, two, one with an accent of none, one */

	(void)state;
	assert_int_equal(text_fit(text, 0), 0);
	assert_int_equal(text_fit(text, 1), 1);
	assert_int_equal(text_fit(text, 2), 1);
	assert_int_equal(text_fit(text, 3), 4);
	assert_int_equal(text_fit(text, 4), 7);
	assert_int_equal(text_fit(text, 99), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_fit_every_width),
		cmocka_unit_test(test_a_column_is_found_by_the_mouse),
		cmocka_unit_test(test_sorting_goes_around_the_columns),
		cmocka_unit_test(test_order_and_filter),
		cmocka_unit_test(test_the_selection_follows_its_row),
		cmocka_unit_test(test_the_selected_row_is_on_the_screen),
		cmocka_unit_test(test_every_screen_has_a_layout),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_typing),
		cmocka_unit_test(test_a_key_does_one_thing),
		cmocka_unit_test(test_short_sizes_fit_five_columns),
		cmocka_unit_test(test_a_text_is_cut_at_columns),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
