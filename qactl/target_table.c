/*
 * Targets as a table. What is not known is "-": figures of a target that never answered; "silent 12 s" marks figures of
 * that age. The command comes last, where its length can not push other columns apart.
 */
#include <inttypes.h>

#include "size.h"
#include "table.h"
#include "target.h"
#include "text.h"

static void format_pid(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%" PRIu64, ((const struct target *)row)->pid);
}

static void format_user(const void *row, char *cell, size_t cell_bytes)
{
	text_escape(cell, cell_bytes, ((const struct target *)row)->user);
}

static void format_uptime(const void *row, char *cell, size_t cell_bytes)
{
	size_format_uptime(((const struct target *)row)->uptime_s, cell, cell_bytes);
}

static void format_known(const struct target *target, uint64_t bytes, char *cell, size_t cell_bytes)
{
	if (target->has_figures)
		size_format(bytes, cell, cell_bytes);
	else
		snprintf(cell, cell_bytes, "-");
}

static void format_held(const void *row, char *cell, size_t cell_bytes)
{
	format_known(row, ((const struct target *)row)->totals.held_bytes, cell, cell_bytes);
}

static void format_used(const void *row, char *cell, size_t cell_bytes)
{
	format_known(row, ((const struct target *)row)->totals.used_bytes, cell, cell_bytes);
}

static void format_cached(const void *row, char *cell, size_t cell_bytes)
{
	format_known(row, ((const struct target *)row)->totals.cached_bytes, cell, cell_bytes);
}

static void format_percent(const void *row, char *cell, size_t cell_bytes)
{
	const struct target *target = row;

	size_format_percent(target->totals.cached_bytes, target->totals.held_bytes, cell, cell_bytes);
}

static void format_rss(const void *row, char *cell, size_t cell_bytes)
{
	size_format(((const struct target *)row)->rss_bytes, cell, cell_bytes);
}

static void format_threads(const void *row, char *cell, size_t cell_bytes)
{
	const struct target *target = row;

	if (target->has_figures)
		snprintf(cell, cell_bytes, "%" PRIu64, target->totals.threads);
	else
		snprintf(cell, cell_bytes, "-");
}

static void format_state(const void *row, char *cell, size_t cell_bytes)
{
	const struct target *target = row;
	char age[SIZE_TEXT];

	if (!target->is_silent) {
		snprintf(cell, cell_bytes, target->has_figures ? "ok" : "-");
	} else if (!target->has_figures) {
		snprintf(cell, cell_bytes, "silent");
	} else {
		size_format_age(target->age_ms, age, sizeof(age));
		snprintf(cell, cell_bytes, "silent %s", age);
	}
}

static void format_command(const void *row, char *cell, size_t cell_bytes)
{
	const struct target *target = row;

	target_label(target->command, target->name, cell, cell_bytes);
}

static const struct table_column columns_with_figures[] = {
	{"PID", TABLE_RIGHT, format_pid},         {"USER", TABLE_LEFT, format_user},
	{"UPTIME", TABLE_RIGHT, format_uptime},   {"HELD", TABLE_RIGHT, format_held},
	{"USED", TABLE_RIGHT, format_used},       {"CACHED", TABLE_RIGHT, format_cached},
	{"CACHED%", TABLE_RIGHT, format_percent}, {"RSS", TABLE_RIGHT, format_rss},
	{"THREADS", TABLE_RIGHT, format_threads}, {"STATE", TABLE_LEFT, format_state},
	{"COMMAND", TABLE_LEFT, format_command},
};

static const struct table_column columns_without[] = {
	{"PID", TABLE_RIGHT, format_pid},
	{"USER", TABLE_LEFT, format_user},
	{"UPTIME", TABLE_RIGHT, format_uptime},
	{"COMMAND", TABLE_LEFT, format_command},
};

void target_list_print(FILE *out, const struct target_list *list, bool figures)
{
	struct table table = {
		.columns = figures ? columns_with_figures : columns_without,
		.column_count = figures ? sizeof(columns_with_figures) / sizeof(*columns_with_figures)
					: sizeof(columns_without) / sizeof(*columns_without),
		.rows = list->items,
		.row_bytes = sizeof(*list->items),
		.row_count = list->count,
	};

	table_print(out, &table);
}
