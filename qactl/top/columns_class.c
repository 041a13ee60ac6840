/*
 * The columns of classes and pools: titles and cells are those of 'qactl stats'; here is what a screen needs beside
 * them. The two are put together when the view is made.
 */
#include <stdio.h>

#include "stats_table.h"
#include "text.h"
#include "top/columns.h"

static const struct qp_class *class_of(const void *row)
{
	return &((const struct stats_row *)row)->figures;
}

/* Blocks above the largest class are the largest. */
static double value_block(const void *row)
{
	return class_of(row)->block_size ? (double)class_of(row)->block_size : 1e30;
}

static double value_pages(const void *row)
{
	return (double)class_of(row)->pages;
}

static double value_held(const void *row)
{
	return (double)class_of(row)->held_bytes;
}

static double value_used(const void *row)
{
	return (double)class_of(row)->used_bytes;
}

static double value_cached(const void *row)
{
	return (double)class_of(row)->cached_bytes;
}

static double value_percent(const void *row)
{
	return value_held(row) == 0 ? -1 : value_cached(row) / value_held(row);
}

static double value_blocks(const void *row)
{
	return (double)class_of(row)->used_blocks;
}

/* In the order of stats_columns. */
static const struct {
	const char *name;
	short width, rank;
	bool is_descending;
	double (*value)(const void *row);
} more[STATS_COLUMNS] = {
	{"block", 8, 1, false, value_block},   {"pages", 6, 6, true, value_pages},
	{"held", 10, 4, true, value_held},     {"used", 10, 3, true, value_used},
	{"cached", 10, 2, true, value_cached}, {"percent", 7, 5, true, value_percent},
	{"blocks", 11, 7, true, value_blocks}, {"pool", 4, 0, false, NULL},
};

static uint64_t key_of_class(const void *row)
{
	uint64_t hash = 14695981039346656037u ^ class_of(row)->block_size;

	for (const char *c = class_of(row)->name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211u;
	return hash | 1;
}

static void text_of_class(const void *row, char *text, size_t text_bytes)
{
	char block[TABLE_CELL_BYTES], name[TABLE_CELL_BYTES];

	stats_columns[0].format(row, block, sizeof(block));
	stats_columns[STATS_COLUMNS - 1].format(row, name, sizeof(name));
	snprintf(text, text_bytes, "%s %s", block, name);
}

void columns_view_classes(struct view *view)
{
	static struct column columns[STATS_COLUMNS];

	for (size_t i = 0; i < STATS_COLUMNS; i++)
		columns[i] = (struct column){
			.title = stats_columns[i].title,
			.name = more[i].name,
			.align = stats_columns[i].align,
			.width = more[i].width,
			.rank = more[i].rank,
			.is_descending = more[i].is_descending,
			.format = stats_columns[i].format,
			.value = more[i].value,
		};
	*view = (struct view){.set = {columns, STATS_COLUMNS},
			      .row_bytes = sizeof(struct stats_row),
			      .key = key_of_class,
			      .text = text_of_class};
	view->sort = (size_t)column_find(&view->set, "cached");
}
