/*
 * column.h - a column of a page of top: how a cell of it is made, what it is sorted by, how much room it wants.
 *
 * Like table.h's columns, but on a screen: cells are cut, and columns that do not fit are left out.
 */
#ifndef QACTL_COLUMN_H
#define QACTL_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

enum { COLUMNS_MOST = 20 };

enum column_kind { COLUMN_TEXT, COLUMN_BAR, COLUMN_TREND };

struct column {
	const char *title;
	const char *name; /* for --sort; NULL: not sorted by */
	enum column_kind kind;
	enum table_align align;
	short width, width_most; /* width_most: into what is left; 0: width */
	short rank;              /* those with a low rank stay on a narrow screen */
	bool is_descending;      /* the large ones first, unless the user turns it */
	void (*format)(const void *row, char *cell, size_t cell_bytes); /* COLUMN_TEXT */
	double (*value)(const void *row);                               /* sorted by; NULL: by the text */
};

struct column_set {
	const struct column *columns;
	size_t count;
};

/*
 * The width of each column on so many in all, with one between two; 0: left out. The last column takes what is left.
 */
void column_fit(const struct column_set *set, int width, int widths[COLUMNS_MOST]);

/* The column at x; -1: between two, or behind the last. */
int column_at(const struct column_set *set, const int widths[COLUMNS_MOST], int x);

/* The column of a name; -1: there is none. */
int column_find(const struct column_set *set, const char *name);

/* The next column that can be sorted by, forward (step 1) or back (-1), around the ends. */
size_t column_next(const struct column_set *set, size_t column, int step);

#endif
