/*
 * Every cell is formatted twice, once to measure its column and once to print it: that costs less than it would to keep
 * them.
 */
#include "table.h"

#include <assert.h>
#include <stdbool.h>

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

static void print_cell(FILE *out, const struct table *table, size_t index, const char *cell, size_t column_width)
{
	int pad = (int)(column_width - text_width(cell));
	bool is_last = index + 1 == table->column_count;

	if (index > 0)
		fputs("  ", out);
	if (table->columns[index].align == TABLE_RIGHT)
		fprintf(out, "%*s%s", pad, "", cell);
	else
		fprintf(out, "%s%*s", cell, is_last ? 0 : pad, "");
}

void table_print(FILE *out, const struct table *table)
{
	size_t widths[TABLE_COLUMNS];
	char cell[TABLE_CELL_BYTES];

	assert(table->column_count <= TABLE_COLUMNS);
	measure(table, widths);
	for (size_t c = 0; c < table->column_count; c++)
		print_cell(out, table, c, table->columns[c].title, widths[c]);
	fputc('\n', out);
	for (size_t r = 0; r < table->row_count; r++) {
		for (size_t c = 0; c < table->column_count; c++) {
			table->columns[c].format(row_at(table, r), cell, sizeof(cell));
			print_cell(out, table, c, cell, widths[c]);
		}
		fputc('\n', out);
	}
}
