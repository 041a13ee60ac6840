/*
 * A strip of ten characters for each class shows where its pages are between empty and full; the bars below show what
 * all of them together keep from the system, which is the answer to "why does the memory not come back".
 */
#include "map.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "size.h"
#include "table.h"
#include "text.h"

enum { BAR_COLUMNS = 30 };

/* For no page, up to a quarter of the pages, a half, three quarters, all. */
static const char *const ascii_shades[] = {".", ":", "+", "#", "@"};
static const char *const utf8_shades[] = {"\u00b7", "\u2591", "\u2592", "\u2593", "\u2588"};

static const struct map_class *class_of(const void *row)
{
	return row;
}

static uint64_t sum(const uint64_t values[MAP_TENTHS])
{
	uint64_t total = 0;

	for (size_t i = 0; i < MAP_TENTHS; i++)
		total += values[i];
	return total;
}

static void format_block(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%" PRIu64, class_of(row)->block_size);
}

static void format_pages(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%" PRIu64, class_of(row)->pages);
}

static void format_empty(const void *row, char *cell, size_t cell_bytes)
{
	snprintf(cell, cell_bytes, "%" PRIu64, class_of(row)->empty_pages);
}

static void format_strip(const void *row, char *cell, size_t cell_bytes)
{
	const struct map_class *shown = row;
	uint64_t pages = sum(shown->tenth_pages);
	size_t used = 0;

	cell[0] = '\0';
	for (size_t i = 0; i < MAP_TENTHS && used < cell_bytes; i++) {
		double share = pages ? (double)shown->tenth_pages[i] / (double)pages : 0;
		size_t shade = share <= 0 ? 0 : share <= 0.25 ? 1 : share <= 0.5 ? 2 : share <= 0.75 ? 3 : 4;

		used += (size_t)snprintf(cell + used, cell_bytes - used, "%s", shown->shades[shade]);
	}
}

static void format_out(const void *row, char *cell, size_t cell_bytes)
{
	size_format(sum(class_of(row)->tenth_out_bytes), cell, cell_bytes);
}

static void format_free(const void *row, char *cell, size_t cell_bytes)
{
	size_format(sum(class_of(row)->tenth_free_bytes), cell, cell_bytes);
}

static void format_name(const void *row, char *cell, size_t cell_bytes)
{
	text_escape(cell, cell_bytes, class_of(row)->name);
}

static const struct table_column columns[] = {
	{"BLOCK", TABLE_RIGHT, format_block}, {"PAGES", TABLE_RIGHT, format_pages},
	{"EMPTY", TABLE_RIGHT, format_empty}, {"EMPTY-FULL", TABLE_LEFT, format_strip},
	{"OUT", TABLE_RIGHT, format_out},     {"FREE BESIDE", TABLE_RIGHT, format_free},
	{"POOL", TABLE_LEFT, format_name},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

static void print_bars(FILE *out, const struct map_class *total)
{
	uint64_t most = 1;

	for (size_t i = 0; i < MAP_TENTHS; i++)
		most = total->tenth_free_bytes[i] > most ? total->tenth_free_bytes[i] : most;
	fputs("\nPAGES FULL TO    PAGES         OUT  FREE BESIDE\n", out);
	for (size_t i = 0; i < MAP_TENTHS; i++) {
		char used[SIZE_TEXT], pinned[SIZE_TEXT];
		uint64_t free_bytes = total->tenth_free_bytes[i];
		size_t cells = (size_t)((double)free_bytes / (double)most * BAR_COLUMNS + 0.5);

		size_format(total->tenth_out_bytes[i], used, sizeof(used));
		size_format(free_bytes, pinned, sizeof(pinned));
		fprintf(out, "%5zu - %3zu %% %8" PRIu64 "  %10s   %10s%s", i * MAP_TENTHS, (i + 1) * MAP_TENTHS,
			total->tenth_pages[i], used, pinned, free_bytes ? "  " : "");
		/* What is there is seen, however little. */
		for (size_t cell = 0; free_bytes && cell < (cells ? cells : 1); cell++)
			fputs(total->shades[4], out);
		fputc('\n', out);
	}
}

/* The emptiest pages that together have half of what is free beside blocks, and what their blocks weigh. */
static void print_pinned(FILE *out, const struct map_class *total, uint64_t free_bytes)
{
	uint64_t pages = 0, out_bytes = 0, pinned_bytes = 0;
	char used[SIZE_TEXT], pinned[SIZE_TEXT], all[SIZE_TEXT];
	size_t i = 0;

	do {
		pages += total->tenth_pages[i];
		out_bytes += total->tenth_out_bytes[i];
		pinned_bytes += total->tenth_free_bytes[i];
	} while (++i < MAP_TENTHS && pinned_bytes < free_bytes / 2 + free_bytes % 2);
	size_format(out_bytes, used, sizeof(used));
	size_format(pinned_bytes, pinned, sizeof(pinned));
	size_format(free_bytes, all, sizeof(all));
	fprintf(out,
		"%s are free in pages that also have blocks out. %s of it lie in %" PRIu64
		" page%s at most %zu %% full,\n"
		"pinned by %s of blocks. A trim returns of such pages each %ld KiB that no block touches; the rest\n"
		"comes back when these blocks are freed.\n",
		all, pinned, pages, pages == 1 ? "" : "s", i * MAP_TENTHS, used, sysconf(_SC_PAGESIZE) / 1024);
}

static void print_meaning(FILE *out, const struct map *map, const struct map_class *total)
{
	uint64_t free_bytes = sum(total->tenth_free_bytes), out_bytes = sum(total->tenth_out_bytes);

	fputc('\n', out);
	if (total->pages == 0)
		fputs("No block is out: nothing keeps a page from the system.\n", out);
	else if (free_bytes <= out_bytes / 10)
		fputs("These pages are well filled: blocks keep little more than themselves.\n", out);
	if (free_bytes)
		print_pinned(out, total, free_bytes);
	if (total->empty_pages)
		fprintf(out, "%" PRIu64 " page%s no block out: 'qactl trim %" PRIu64 "' returns %s.\n",
			total->empty_pages, total->empty_pages == 1 ? " has" : "s have", map->target.pid,
			total->empty_pages == 1 ? "it" : "them");
}

static void add(struct map_class *total, const struct map_class *row)
{
	total->pages += row->pages;
	total->empty_pages += row->empty_pages;
	for (size_t i = 0; i < MAP_TENTHS; i++) {
		total->tenth_pages[i] += row->tenth_pages[i];
		total->tenth_out_bytes[i] += row->tenth_out_bytes[i];
		total->tenth_free_bytes[i] += row->tenth_free_bytes[i];
	}
}

void map_print(FILE *out, struct map *map, const struct terminal *terminal)
{
	const char *const *shades = terminal->is_utf8 ? utf8_shades : ascii_shades;
	struct map_class total = {.shades = shades};
	struct table table = {.columns = columns,
			      .column_count = COLUMNS - 1,
			      .rows = map->classes,
			      .row_bytes = sizeof(*map->classes),
			      .row_count = map->count};
	char label[TARGET_LABEL_BYTES], page[SIZE_TEXT];

	for (size_t i = 0; i < map->count; i++) {
		map->classes[i].shades = shades;
		add(&total, &map->classes[i]);
		if (map->classes[i].name[0])
			table.column_count = COLUMNS;
	}
	target_label(map->target.command, map->target.name, label, sizeof(label));
	size_format(map->page_size, page, sizeof(page));
	fprintf(out, "%s, pid %" PRIu64 ", pages of %s: %" PRIu64 " with a block out, %" PRIu64 " empty\n\n", label,
		map->target.pid, page, total.pages, total.empty_pages);
	table_print(out, &table);
	print_bars(out, &total);
	print_meaning(out, map, &total);
}
