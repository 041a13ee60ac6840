/*
 * The columns of processes. What must be seen on a terminal of 80 columns has the low ranks.
 */
#include "top/columns.h"

#include <inttypes.h>
#include <stdio.h>

#include "size.h"
#include "text.h"
#include "top/process.h"

static const struct process *process_of(const void *row)
{
	return row;
}

static const struct qp_totals *totals_of(const void *row)
{
	return &process_of(row)->target.totals;
}

static void format_bytes(const void *row, uint64_t bytes, char *cell, size_t cell_bytes)
{
	if (process_of(row)->target.has_figures)
		size_format_brief(bytes, cell, cell_bytes);
	else
		snprintf(cell, cell_bytes, "-");
}

/* Rounded; what is below or above its range is its end. */
static uint64_t whole(double number)
{
	return number >= 1e19 ? (uint64_t)1e19 : number > 0 ? (uint64_t)(number + 0.5) : 0;
}

void columns_format_rate(double rate, char *text, size_t text_bytes)
{
	size_format_count_brief(whole(rate), text, text_bytes);
}

static void format_rate(const void *row, double rate, char *cell, size_t cell_bytes)
{
	if (process_of(row)->has_rates)
		columns_format_rate(rate, cell, cell_bytes);
	else
		snprintf(cell, cell_bytes, "-");
}

void columns_format_growth(double bytes_s, char *text, size_t text_bytes)
{
	uint64_t size = whole(bytes_s < 0 ? -bytes_s : bytes_s);
	char number[SIZE_TEXT];

	size_format_brief(size, number, sizeof(number));
	snprintf(text, text_bytes, "%s%s", size == 0 ? "" : bytes_s < 0 ? "-" : "+", number);
}

static void format_pid(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%" PRIu64, process_of(row)->target.pid);
}

static void format_user(const void *row, char *cell, size_t cell_bytes)
{
	text_escape(cell, cell_bytes, process_of(row)->target.user);
}

static void format_uptime(const void *row, char *cell, size_t cell_bytes)
{
	size_format_uptime(process_of(row)->target.uptime_s, cell, cell_bytes);
}

static void format_held(const void *row, char *cell, size_t cell_bytes)
{
	format_bytes(row, totals_of(row)->held_bytes, cell, cell_bytes);
}

static void format_used(const void *row, char *cell, size_t cell_bytes)
{
	format_bytes(row, totals_of(row)->used_bytes, cell, cell_bytes);
}

static void format_cached(const void *row, char *cell, size_t cell_bytes)
{
	format_bytes(row, totals_of(row)->cached_bytes, cell, cell_bytes);
}

static void format_percent(const void *row, char *cell, size_t cell_bytes)
{
	size_format_percent(totals_of(row)->cached_bytes, totals_of(row)->held_bytes, cell, cell_bytes);
}

static void format_rss(const void *row, char *cell, size_t cell_bytes)
{
	size_format_brief(process_of(row)->target.rss_bytes, cell, cell_bytes);
}

static void format_allocs(const void *row, char *cell, size_t cell_bytes)
{
	format_rate(row, process_of(row)->allocs_s, cell, cell_bytes);
}

static void format_frees(const void *row, char *cell, size_t cell_bytes)
{
	format_rate(row, process_of(row)->frees_s, cell, cell_bytes);
}

static void format_growth(const void *row, char *cell, size_t cell_bytes)
{
	if (process_of(row)->has_rates)
		columns_format_growth(process_of(row)->growth_s, cell, cell_bytes);
	else
		snprintf(cell, cell_bytes, "-");
}

static void format_threads(const void *row, char *cell, size_t cell_bytes)
{
	if (process_of(row)->target.has_figures)
		snprintf(cell, cell_bytes, "%" PRIu64, totals_of(row)->threads);
	else
		snprintf(cell, cell_bytes, "-");
}

static void format_state(const void *row, char *cell, size_t cell_bytes)
{
	const struct target *target = &process_of(row)->target;

	snprintf(cell, cell_bytes, "%s", target->is_silent ? "silent" : target->has_figures ? "ok" : "-");
}

static void format_command(const void *row, char *cell, size_t cell_bytes)
{
	target_label(process_of(row)->target.command, process_of(row)->target.name, cell, cell_bytes);
}

static double value_pid(const void *row)
{
	return (double)process_of(row)->target.pid;
}

static double value_uptime(const void *row)
{
	return (double)process_of(row)->target.uptime_s;
}

static double value_held(const void *row)
{
	return (double)totals_of(row)->held_bytes;
}

static double value_used(const void *row)
{
	return (double)totals_of(row)->used_bytes;
}

static double value_cached(const void *row)
{
	return (double)totals_of(row)->cached_bytes;
}

static double value_percent(const void *row)
{
	return value_held(row) == 0 ? -1 : value_cached(row) / value_held(row);
}

static double value_rss(const void *row)
{
	return (double)process_of(row)->target.rss_bytes;
}

static double value_allocs(const void *row)
{
	return process_of(row)->allocs_s;
}

static double value_frees(const void *row)
{
	return process_of(row)->frees_s;
}

static double value_growth(const void *row)
{
	return process_of(row)->growth_s;
}

static double value_threads(const void *row)
{
	return (double)totals_of(row)->threads;
}

static const struct column process_columns[] = {
	{"PID", "pid", COLUMN_TEXT, TABLE_RIGHT, 7, 0, 1, false, format_pid, value_pid},
	{"USER", "user", COLUMN_TEXT, TABLE_LEFT, 8, 0, 13, false, format_user, NULL},
	{"UPTIME", "uptime", COLUMN_TEXT, TABLE_RIGHT, 6, 0, 14, true, format_uptime, value_uptime},
	{"OF HELD", NULL, COLUMN_BAR, TABLE_LEFT, 8, 24, 6, false, NULL, NULL},
	{"HELD", "held", COLUMN_TEXT, TABLE_RIGHT, 5, 0, 4, true, format_held, value_held},
	{"USED", "used", COLUMN_TEXT, TABLE_RIGHT, 5, 0, 5, true, format_used, value_used},
	{"CACHED", "cached", COLUMN_TEXT, TABLE_RIGHT, 6, 0, 3, true, format_cached, value_cached},
	{"CACHED%", "percent", COLUMN_TEXT, TABLE_RIGHT, 7, 0, 12, true, format_percent, value_percent},
	{"RSS", "rss", COLUMN_TEXT, TABLE_RIGHT, 5, 0, 7, true, format_rss, value_rss},
	{"ALLOC/S", "allocs", COLUMN_TEXT, TABLE_RIGHT, 7, 0, 10, true, format_allocs, value_allocs},
	{"FREE/S", "frees", COLUMN_TEXT, TABLE_RIGHT, 6, 0, 11, true, format_frees, value_frees},
	{"GROW/S", "growth", COLUMN_TEXT, TABLE_RIGHT, 6, 0, 8, true, format_growth, value_growth},
	{"5 MIN", NULL, COLUMN_TREND, TABLE_LEFT, 8, 30, 9, false, NULL, NULL},
	{"THREADS", "threads", COLUMN_TEXT, TABLE_RIGHT, 7, 0, 16, true, format_threads, value_threads},
	{"STATE", "state", COLUMN_TEXT, TABLE_LEFT, 6, 0, 15, false, format_state, NULL},
	{"COMMAND", "command", COLUMN_TEXT, TABLE_LEFT, 14, 0, 2, false, format_command, NULL},
};
enum { PROCESS_COLUMNS = sizeof(process_columns) / sizeof(*process_columns) };
_Static_assert((int)PROCESS_COLUMNS <= (int)COLUMNS_MOST, "views have room for these");

static uint64_t key_of_process(const void *row)
{
	return process_of(row)->target.pid;
}

static void text_of_process(const void *row, char *text, size_t text_bytes)
{
	char label[TARGET_LABEL_BYTES], user[160];

	format_command(row, label, sizeof(label));
	format_user(row, user, sizeof(user));
	snprintf(text, text_bytes, "%" PRIu64 " %s %s", process_of(row)->target.pid, user, label);
}

void columns_view_processes(struct view *view)
{
	*view = (struct view){.set = {process_columns, PROCESS_COLUMNS},
			      .row_bytes = sizeof(struct process),
			      .key = key_of_process,
			      .text = text_of_process};
	view->sort = (size_t)column_find(&view->set, "cached");
}

size_t columns_of_table(struct table_column columns[TABLE_COLUMNS])
{
	size_t count = 0;

	for (size_t i = 0; i < PROCESS_COLUMNS; i++) {
		const struct column *column = &process_columns[i];

		if (column->kind == COLUMN_TEXT)
			columns[count++] = (struct table_column){column->title, column->align, column->format};
	}
	return count;
}
