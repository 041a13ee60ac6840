/*
 * The paragraph answers the usual questions (how much, how much of it is cached and where); the table says which sizes
 * it is.
 */
#include "stats_table.h"

#include <inttypes.h>
#include <string.h>

#include "size.h"
#include "table.h"
#include "text.h"

static const struct qp_class *figures_of(const void *row)
{
	return &((const struct stats_row *)row)->figures;
}

static void format_block(const void *row, char *cell, size_t cell_bytes)
{
	if (((const struct stats_row *)row)->is_total)
		snprintf(cell, cell_bytes, "TOTAL");
	else if (figures_of(row)->block_size == 0)
		snprintf(cell, cell_bytes, "large");
	else
		snprintf(cell, cell_bytes, "%" PRIu64, figures_of(row)->block_size);
}

/* Blocks above the largest class are not made of pages; what is the sum of rows is not known when some are not. */
static void format_pages(const void *row, char *cell, size_t cell_bytes)
{
	const struct stats_row *shown = row;

	if (shown->is_partial || (!shown->is_total && shown->figures.block_size == 0))
		snprintf(cell, cell_bytes, "-");
	else
		snprintf(cell, cell_bytes, "%" PRIu64, shown->figures.pages);
}

static void format_held(const void *row, char *cell, size_t cell_bytes)
{
	size_format(figures_of(row)->held_bytes, cell, cell_bytes);
}

static void format_used(const void *row, char *cell, size_t cell_bytes)
{
	size_format(figures_of(row)->used_bytes, cell, cell_bytes);
}

static void format_cached(const void *row, char *cell, size_t cell_bytes)
{
	size_format(figures_of(row)->cached_bytes, cell, cell_bytes);
}

static void format_percent(const void *row, char *cell, size_t cell_bytes)
{
	size_format_percent(figures_of(row)->cached_bytes, figures_of(row)->held_bytes, cell, cell_bytes);
}

static void format_blocks(const void *row, char *cell, size_t cell_bytes)
{
	if (((const struct stats_row *)row)->is_partial)
		snprintf(cell, cell_bytes, "-");
	else
		snprintf(cell, cell_bytes, "%" PRIu64, figures_of(row)->used_blocks);
}

static void format_name(const void *row, char *cell, size_t cell_bytes)
{
	text_escape(cell, cell_bytes, figures_of(row)->name);
}

const struct table_column stats_columns[STATS_COLUMNS] = {
	{"BLOCK", TABLE_RIGHT, format_block},        {"PAGES", TABLE_RIGHT, format_pages},
	{"HELD", TABLE_RIGHT, format_held},          {"USED", TABLE_RIGHT, format_used},
	{"CACHED", TABLE_RIGHT, format_cached},      {"CACHED%", TABLE_RIGHT, format_percent},
	{"BLOCKS USED", TABLE_RIGHT, format_blocks}, {"POOL", TABLE_LEFT, format_name},
};

/*
 * Bytes are those of the totals; what only rows have is summed. Of old figures qad may have some rows or none. Returns
 * whether any row has a name.
 */
static bool fill_total_row(struct stats *stats)
{
	const struct qp_totals *totals = &stats->target.totals;
	struct stats_row *total = &stats->rows[stats->row_count];
	uint64_t held_bytes = 0;
	bool has_names = false;

	memset(total, 0, sizeof(*total));
	total->is_total = true;
	total->figures.held_bytes = totals->held_bytes;
	total->figures.used_bytes = totals->used_bytes;
	total->figures.cached_bytes = totals->cached_bytes;
	for (size_t i = 0; i < stats->row_count; i++) {
		const struct qp_class *row = &stats->rows[i].figures;

		held_bytes += row->held_bytes;
		total->figures.pages += row->pages;
		total->figures.used_blocks += row->used_blocks;
		has_names = has_names || row->name[0];
	}
	total->is_partial = held_bytes < totals->held_bytes;
	return has_names;
}

static void print_heading(FILE *out, const struct target *target)
{
	char label[TARGET_LABEL_BYTES], uptime[SIZE_TEXT], page[SIZE_TEXT], version[128], user[160];

	target_label(target->command, target->name, label, sizeof(label));
	text_escape(user, sizeof(user), target->user);
	text_escape(version, sizeof(version), target->version);
	size_format_uptime(target->uptime_s, uptime, sizeof(uptime));
	size_format(target->totals.page_size, page, sizeof(page));
	fprintf(out, "%s, pid %" PRIu64 ", user %s, up %s", label, target->pid, user, uptime);
	if (target->inner_pid != target->pid)
		fprintf(out, ", pid %" PRIu64 " in its container", target->inner_pid);
	if (*version)
		fprintf(out, ", libqa %s", version);
	fprintf(out, ", pages of %s\n", page);
}

static void print_cached(FILE *out, const struct qp_totals *totals)
{
	char cached[SIZE_TEXT], percent[SIZE_TEXT], parts[4][SIZE_TEXT];

	size_format(totals->cached_bytes, cached, sizeof(cached));
	size_format_percent(totals->cached_bytes, totals->held_bytes, percent, sizeof(percent));
	size_format(totals->thread_bytes, parts[0], sizeof(parts[0]));
	size_format(totals->partial_bytes, parts[1], sizeof(parts[1]));
	size_format(totals->empty_bytes, parts[2], sizeof(parts[2]));
	size_format(totals->slack_bytes, parts[3], sizeof(parts[3]));
	fprintf(out, "  cached   %10s  ", cached);
	if (totals->held_bytes)
		fprintf(out, "%s %% of held: ", percent);
	fprintf(out, "thread %s, partial %s, empty %s, slack %s\n", parts[0], parts[1], parts[2], parts[3]);
}

static void print_totals(FILE *out, const struct target *target)
{
	const struct qp_totals *totals = &target->totals;
	char text[SIZE_TEXT];

	size_format(totals->held_bytes, text, sizeof(text));
	fprintf(out, "  held     %10s\n", text);
	size_format(totals->used_bytes, text, sizeof(text));
	fprintf(out, "  used     %10s\n", text);
	print_cached(out, totals);
	size_format(target->rss_bytes, text, sizeof(text));
	fprintf(out, "  rss      %10s  the whole process\n", text);
	fprintf(out, "  threads  %10" PRIu64 "  with a cache\n", totals->threads);
	if (totals->unreachable_bytes) {
		size_format(totals->unreachable_bytes, text, sizeof(text));
		fprintf(out, "  of thread, %s can not be trimmed now: their threads have to return them\n", text);
	}
}

void stats_print(FILE *out, struct stats *stats)
{
	bool has_names = fill_total_row(stats);
	struct table table = {
		.columns = stats_columns,
		.column_count = has_names ? STATS_COLUMNS : STATS_COLUMNS - 1,
		.rows = stats->rows,
		.row_bytes = sizeof(*stats->rows),
		.row_count = stats->row_count + 1,
	};
	char age[SIZE_TEXT];

	print_heading(out, &stats->target);
	if (stats->target.age_ms) {
		size_format_age(stats->target.age_ms, age, sizeof(age));
		fprintf(out, "  last known figures, %s old\n", age);
	}
	print_totals(out, &stats->target);
	if (stats->rows[stats->row_count].is_partial)
		fputs("  not all size classes are known of these figures\n", out);
	fputc('\n', out);
	table_print(out, &table);
}
