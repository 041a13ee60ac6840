/*
 * Every cell is formatted twice, once to measure its column and once to print it: that costs less than it would to keep
 * them.
 */
#include "table.h"

#include <assert.h>

#include "text.h"

static const void *row_at(const struct table *table, size_t index)
{
	return (const char *)table->rows + index * table->row_bytes;
}

static void measure(const struct table *table, size_t widths[TABLE_COLUMNS])
{
	char cell[TABLE_CELL_BYTES];

	for (size_t c = 0; c < table->column_count; c++) {
		widths[c] = text_width(table->columns[c].title);
		for (size_t r = 0; r < table->row_count; r++) {
			size_t width;

			table->columns[c].format(row_at(table, r), cell, sizeof(cell));
			width = text_width(cell);
			if (width > widths[c])
				widths[c] = width;
		}
	}
}

/* Spaces are owed until something follows them, so that no line ends in one. */
static void print_text(FILE *out, size_t *owed, const char *text)
{
	if (!*text)
		return;
	fprintf(out, "%*s%s", (int)*owed, "", text);
	*owed = 0;
}

/* row NULL: the titles. */
static void print_row(FILE *out, const struct table *table, const size_t widths[TABLE_COLUMNS], const void *row)
{
	char cell[TABLE_CELL_BYTES];
	size_t owed = 0;

	for (size_t c = 0; c < table->column_count; c++) {
		const struct table_column *column = &table->columns[c];
		size_t pad;

		if (row)
			column->format(row, cell, sizeof(cell));
		else
			snprintf(cell, sizeof(cell), "%s", column->title);
		pad = widths[c] - text_width(cell);
		owed += (c ? 2 : 0) + (column->align == TABLE_RIGHT ? pad : 0);
		print_text(out, &owed, cell);
		owed += column->align == TABLE_LEFT ? pad : 0;
	}
	fputc('\n', out);
}

void table_print(FILE *out, const struct table *table)
{
	size_t widths[TABLE_COLUMNS];

	assert(table->column_count <= TABLE_COLUMNS);
	measure(table, widths);
	print_row(out, table, widths, NULL);
	for (size_t r = 0; r < table->row_count; r++)
		print_row(out, table, widths, row_at(table, r));
}
