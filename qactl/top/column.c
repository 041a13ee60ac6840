/*
 * Columns are taken in the order of their ranks while they fit. What is left then goes to those that can use it, such
 * as bars, and to the last one, a name of any length.
 */
#include "top/column.h"

#include <string.h>

/* A name wants so much before bars grow. */
enum { NAME_WIDTH = 24 };

/* The best rank among those not taken yet; -1: all are. */
static int best_left(const struct column_set *set, const bool *is_tried)
{
	int best = -1;

	for (size_t i = 0; i < set->count; i++)
		if (!is_tried[i] && (best < 0 || set->columns[i].rank < set->columns[best].rank))
			best = (int)i;
	return best;
}

static int take_that_fit(const struct column_set *set, int width, int widths[COLUMNS_MOST])
{
	bool is_tried[COLUMNS_MOST] = {false};
	int left = width + 1, i;

	memset(widths, 0, COLUMNS_MOST * sizeof(*widths));
	while ((i = best_left(set, is_tried)) >= 0) {
		int wanted = set->columns[i].width + 1;

		is_tried[i] = true;
		if (wanted <= left) {
			widths[i] = set->columns[i].width;
			left -= wanted;
		}
	}
	return left;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

void column_fit(const struct column_set *set, int width, int widths[COLUMNS_MOST])
{
	int left = take_that_fit(set, width, widths);
	int last = (int)set->count - 1, more;

	if (widths[last] == 0) {
		/* Narrower than the first column: that one is cut. */
		if (left == width + 1)
			widths[best_left(set, (bool[COLUMNS_MOST]){false})] = width;
		return;
	}
	more = least(left, widths[last] < NAME_WIDTH ? NAME_WIDTH - widths[last] : 0);
	widths[last] += more;
	left -= more;
	for (int i = 0; i < last; i++) {
		if (widths[i] == 0 || set->columns[i].width_most == 0)
			continue;
		more = least(left, set->columns[i].width_most - widths[i]);
		widths[i] += more;
		left -= more;
	}
	widths[last] += left;
}

int column_at(const struct column_set *set, const int widths[COLUMNS_MOST], int x)
{
	for (size_t i = 0; i < set->count; i++) {
		if (widths[i] == 0)
			continue;
		if (x < widths[i])
			return x < 0 ? -1 : (int)i;
		x -= widths[i] + 1;
	}
	return -1;
}

int column_find(const struct column_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->columns[i].name && strcmp(set->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

size_t column_next(const struct column_set *set, size_t column, int step)
{
	do
		column = (column + set->count + (size_t)step) % set->count;
	while (!set->columns[column].name);
	return column;
}
