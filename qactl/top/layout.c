/*
 * The rows are what top is for: on a low screen the head shrinks first, then goes, then the line of titles.
 */
#include "top/layout.h"

/* Below this many rows the head gives up lines. */
enum { ROWS_WANTED = 6 };

static int head_lines(enum top_page page, int height)
{
	int whole = page == TOP_PROCESS ? LAYOUT_HEAD_OF_PROCESS : LAYOUT_HEAD_OF_LIST;
	int left = height - 2 - ROWS_WANTED; /* titles, foot */

	if (page == TOP_HELP)
		return 0;
	if (left >= whole)
		return whole;
	return left > 0 ? left : height >= 5;
}

void layout_make(struct layout *layout, enum top_page page, const struct column_set *set, int width, int height)
{
	int y;

	*layout = (struct layout){.width = width, .height = height, .titles = -1, .rows = -1, .foot = -1};
	if (width <= 0 || height <= 0)
		return;
	column_fit(set, width, layout->widths);
	y = layout->head = head_lines(page, height);
	layout->foot = height >= 2 ? height - 1 : -1;
	if (height >= 4 && page != TOP_HELP)
		layout->titles = y++;
	layout->rows = y;
	layout->row_count = height - y - (layout->foot >= 0);
}
