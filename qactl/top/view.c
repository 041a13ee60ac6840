/*
 * Rows that compare as equal keep the order of the caller's array, so that nothing moves without a reason.
 */
#include "top/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TEXT_BYTES = 1024 };

void view_finish(struct view *view)
{
	free(view->order);
	view->order = NULL;
	view->shown = view->room = 0;
}

static const void *row_of(const struct view *view, size_t index)
{
	return (const char *)view->rows + index * view->row_bytes;
}

static int compare_values(const struct column *column, const void *left, const void *right)
{
	char texts[2][TABLE_CELL_BYTES];

	if (column->value) {
		double a = column->value(left), b = column->value(right);

		return (a > b) - (a < b);
	}
	column->format(left, texts[0], sizeof(texts[0]));
	column->format(right, texts[1], sizeof(texts[1]));
	return strcasecmp(texts[0], texts[1]);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct view *view = context;
	const struct column *column = &view->set.columns[view->sort];
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	int order = compare_values(column, row_of(view, a), row_of(view, b));

	if (order != 0)
		return column->is_descending != view->is_turned ? -order : order;
	return (a > b) - (a < b);
}

static int make_room(struct view *view, size_t count)
{
	size_t *order;

	if (count <= view->room)
		return 0;
	order = realloc(view->order, count * sizeof(*order));
	if (!order)
		return -ENOMEM;
	view->order = order;
	view->room = count;
	return 0;
}

static bool is_match(const struct view *view, const void *row)
{
	char text[TEXT_BYTES];

	if (!view->filter[0])
		return true;
	view->text(row, text, sizeof(text));
	return strcasestr(text, view->filter) != NULL;
}

/* Puts the selection where the chosen row is now. */
static void find_chosen(struct view *view)
{
	for (size_t i = 0; view->chosen && i < view->shown; i++)
		if (view->key(view_row(view, i)) == view->chosen) {
			view->selected = i;
			return;
		}
	if (view->selected >= view->shown)
		view->selected = view->shown ? view->shown - 1 : 0;
}

int view_arrange(struct view *view, const void *rows, size_t count)
{
	int error = make_room(view, count);

	if (error < 0)
		return error;
	view->rows = rows;
	view->shown = 0;
	for (size_t i = 0; i < count; i++)
		if (is_match(view, row_of(view, i)))
			view->order[view->shown++] = i;
	if (view->shown > 0)
		qsort_r(view->order, view->shown, sizeof(*view->order), compare, view);
	find_chosen(view);
	return 0;
}

const void *view_row(const struct view *view, size_t place)
{
	return place < view->shown ? row_of(view, view->order[place]) : NULL;
}

const void *view_selected(const struct view *view)
{
	return view_row(view, view->selected);
}

void view_select(struct view *view, size_t place)
{
	if (view->shown == 0)
		return;
	view->selected = place < view->shown ? place : view->shown - 1;
	view->chosen = view->key(view_selected(view));
}

void view_move(struct view *view, long rows)
{
	if (rows < 0 && (size_t)-rows > view->selected)
		view_select(view, 0);
	else
		view_select(view, view->selected + (size_t)rows);
}

void view_scroll(struct view *view, size_t height)
{
	if (view->selected < view->first)
		view->first = view->selected;
	if (height > 0 && view->selected >= view->first + height)
		view->first = view->selected - height + 1;
	if (view->first + height > view->shown)
		view->first = view->shown > height ? view->shown - height : 0;
}

void view_sort_by(struct view *view, size_t column)
{
	view->is_turned = column == view->sort && !view->is_turned;
	view->sort = column;
}
