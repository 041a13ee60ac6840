/*
 * view.h - which rows are shown, in which order, and which one is selected. Pure: knows neither screen nor qad.
 *
 * The rows are the caller's array of any struct; the view has their indexes in the order shown. The row that the user
 * chose is known by its key, so it stays selected wherever it moves, and is again when it was away. Until the user
 * chooses, and while the chosen one is away, the selection stays at its place on the screen.
 */
#ifndef QACTL_VIEW_H
#define QACTL_VIEW_H

#include "top/column.h"

enum { VIEW_FILTER_BYTES = 65 };

struct view {
	struct column_set set;
	size_t row_bytes;
	uint64_t (*key)(const void *row);                             /* never 0 */
	void (*text)(const void *row, char *text, size_t text_bytes); /* what a filter is looked for in */
	size_t sort;                                                  /* a column */
	bool is_turned;                                               /* against that column's own direction */
	char filter[VIEW_FILTER_BYTES];
	const void *rows;
	size_t *order; /* on the heap */
	size_t shown, room;
	uint64_t chosen; /* a key, or 0 */
	size_t selected, first;
};

void view_finish(struct view *view);

/* Filters and sorts rows, which stay the caller's and are used until the next call. 0 or -ENOMEM. */
int view_arrange(struct view *view, const void *rows, size_t count);

/* The row shown at that place, or NULL. */
const void *view_row(const struct view *view, size_t place);
const void *view_selected(const struct view *view);

/* Selects the row at that place, or the nearest there is. */
void view_select(struct view *view, size_t place);
void view_move(struct view *view, long rows);

/* Scrolls so that the selected row is among height ones. */
void view_scroll(struct view *view, size_t height);

/* Sorts by a column in its own direction; the same again turns it. Shown after view_arrange. */
void view_sort_by(struct view *view, size_t column);

#endif
