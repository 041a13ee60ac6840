/*
 * Before and after side by side: what a trim is asked for is the difference. Resident memory is the system's own
 * measure of the whole process, so it may differ from what libqa returned by what the program did meanwhile.
 */
#include "trim_table.h"

#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "size.h"
#include "table.h"
#include "target.h"

void trim_read(struct qp_reader *reader, struct trim *trim)
{
	trim->pid = qp_read_u64(reader, "pid");
	qp_read_string(reader, "command", trim->command, sizeof(trim->command));
	qp_read_string(reader, "name", trim->name, sizeof(trim->name));
	trim->rss_before_bytes = qp_read_u64(reader, "rss_before_bytes");
	trim->rss_after_bytes = qp_read_u64(reader, "rss_after_bytes");
	qp_read_trim(reader, &trim->figures);
	trim->is_done = !reader->bad;
}

static void print_change(FILE *out, const char *what, uint64_t before, uint64_t after)
{
	char before_text[SIZE_TEXT], after_text[SIZE_TEXT];

	size_format(before, before_text, sizeof(before_text));
	size_format(after, after_text, sizeof(after_text));
	fprintf(out, "  %-8s %10s -> %10s\n", what, before_text, after_text);
}

void trim_print(FILE *out, const struct trim *trim)
{
	const struct qp_trim *figures = &trim->figures;
	char label[TARGET_LABEL_BYTES], returned[SIZE_TEXT], duration[SIZE_TEXT];

	target_label(trim->command, trim->name, label, sizeof(label));
	size_format(figures->returned_bytes, returned, sizeof(returned));
	size_format_duration(figures->duration_us, duration, sizeof(duration));
	fprintf(out, "%s, pid %" PRIu64 ": returned %s in %s\n", label, trim->pid, returned, duration);
	print_change(out, "held", figures->held_before_bytes, figures->held_after_bytes);
	print_change(out, "cached", figures->cached_before_bytes, figures->cached_after_bytes);
	print_change(out, "rss", trim->rss_before_bytes, trim->rss_after_bytes);
	if (figures->threads_skipped)
		fprintf(out,
			"  skipped  %10" PRIu64
			"  threads whose cache was in use at every look; their bytes stay cached\n",
			figures->threads_skipped);
}

static const struct trim *trim_of(const void *row)
{
	return row;
}

static void format_pid(const void *row, char *cell, size_t cell_bytes)
{
	if (trim_of(row)->is_total)
		snprintf(cell, cell_bytes, "TOTAL");
	else
		snprintf(cell, cell_bytes, "%" PRIu64, trim_of(row)->pid);
}

static void format_returned(const void *row, char *cell, size_t cell_bytes)
{
	size_format(trim_of(row)->figures.returned_bytes, cell, cell_bytes);
}

static void format_held_before(const void *row, char *cell, size_t cell_bytes)
{
	size_format(trim_of(row)->figures.held_before_bytes, cell, cell_bytes);
}

static void format_held_after(const void *row, char *cell, size_t cell_bytes)
{
	size_format(trim_of(row)->figures.held_after_bytes, cell, cell_bytes);
}

static void format_cached_after(const void *row, char *cell, size_t cell_bytes)
{
	size_format(trim_of(row)->figures.cached_after_bytes, cell, cell_bytes);
}

static void format_rss_before(const void *row, char *cell, size_t cell_bytes)
{
	size_format(trim_of(row)->rss_before_bytes, cell, cell_bytes);
}

static void format_rss_after(const void *row, char *cell, size_t cell_bytes)
{
	size_format(trim_of(row)->rss_after_bytes, cell, cell_bytes);
}

/* They overlap, so there is no sum. */
static void format_time(const void *row, char *cell, size_t cell_bytes)
{
	if (trim_of(row)->is_total)
		snprintf(cell, cell_bytes, "-");
	else
		size_format_duration(trim_of(row)->figures.duration_us, cell, cell_bytes);
}

static void format_skipped(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%" PRIu64, trim_of(row)->figures.threads_skipped);
}

static void format_command(const void *row, char *cell, size_t cell_bytes)
{
	target_label(trim_of(row)->command, trim_of(row)->name, cell, cell_bytes);
}

static const struct table_column columns[] = {
	{"PID", TABLE_RIGHT, format_pid},
	{"RETURNED", TABLE_RIGHT, format_returned},
	{"HELD WAS", TABLE_RIGHT, format_held_before},
	{"HELD NOW", TABLE_RIGHT, format_held_after},
	{"CACHED NOW", TABLE_RIGHT, format_cached_after},
	{"RSS WAS", TABLE_RIGHT, format_rss_before},
	{"RSS NOW", TABLE_RIGHT, format_rss_after},
	{"TIME", TABLE_RIGHT, format_time},
	{"SKIPPED", TABLE_RIGHT, format_skipped},
	{"COMMAND", TABLE_LEFT, format_command},
};

static void add(struct trim *total, const struct trim *trim)
{
	total->figures.returned_bytes += trim->figures.returned_bytes;
	total->figures.held_before_bytes += trim->figures.held_before_bytes;
	total->figures.held_after_bytes += trim->figures.held_after_bytes;
	total->figures.cached_after_bytes += trim->figures.cached_after_bytes;
	total->figures.threads_skipped += trim->figures.threads_skipped;
	total->rss_before_bytes += trim->rss_before_bytes;
	total->rss_after_bytes += trim->rss_after_bytes;
}

void trim_print_table(FILE *out, struct trim *trims, size_t count)
{
	struct table table = {
		.columns = columns,
		.column_count = sizeof(columns) / sizeof(*columns),
		.rows = trims,
		.row_bytes = sizeof(*trims),
		.row_count = count + 1,
	};

	memset(&trims[count], 0, sizeof(trims[count]));
	trims[count].is_total = true;
	for (size_t i = 0; i < count; i++)
		add(&trims[count], &trims[i]);
	table_print(out, &table);
}

json_t *trim_to_json(const struct trim *trim)
{
	const struct qp_trim *figures = &trim->figures;
	json_t *object = json_object();

	json_object_set_new(object, "pid", json_from_u64(trim->pid));
	json_object_set_new(object, "command", json_from_text(trim->command));
	json_object_set_new(object, "name", json_from_text(trim->name));
	json_object_set_new(object, "returned_bytes", json_from_u64(figures->returned_bytes));
	json_object_set_new(object, "held_before_bytes", json_from_u64(figures->held_before_bytes));
	json_object_set_new(object, "held_after_bytes", json_from_u64(figures->held_after_bytes));
	json_object_set_new(object, "cached_before_bytes", json_from_u64(figures->cached_before_bytes));
	json_object_set_new(object, "cached_after_bytes", json_from_u64(figures->cached_after_bytes));
	json_object_set_new(object, "rss_before_bytes", json_from_u64(trim->rss_before_bytes));
	json_object_set_new(object, "rss_after_bytes", json_from_u64(trim->rss_after_bytes));
	json_object_set_new(object, "duration_us", json_from_u64(figures->duration_us));
	json_object_set_new(object, "threads_skipped", json_from_u64(figures->threads_skipped));
	return object;
}
