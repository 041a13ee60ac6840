/*
 * table.h - prints rows as a table that lines up.
 *
 * A table is an array of columns and an array of rows of any one struct; each column knows how to put its cell of a row
 * into text.
 */
#ifndef QACTL_TABLE_H
#define QACTL_TABLE_H

#include <stddef.h>
#include <stdio.h>

/* Of a cell's text, with its NUL; a label of 64 + 64 bytes fits when each is escaped. */
enum { TABLE_CELL_BYTES = 640 };
enum { TABLE_COLUMNS = 16 };

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
	const char *title;
	enum table_align align;
	void (*format)(const void *row, char *cell, size_t cell_bytes);
};

struct table {
	const struct table_column *columns;
	size_t column_count; /* at most TABLE_COLUMNS */
	const void *rows;
	size_t row_bytes;
	size_t row_count;
};

/* A line of titles and one for each row; nothing is cut, no line ends in a space. */
void table_print(FILE *out, const struct table *table);

#endif
