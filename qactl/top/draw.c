/*
 * The whole screen is drawn each time; ncurses sends what has changed.
 */
#include "top/draw.h"

#include "text.h"
#include "top/keys.h"
#include "top/screen.h"

/* What is too wide loses its end, and shows that it did. */
static void draw_cell(int y, int x, int width, int style, enum table_align align, const char *text)
{
	int wide = (int)text_width(text);

	screen_text(y, x, width, style, "");
	if (align == TABLE_RIGHT && wide < width)
		x += width - wide, width = wide;
	screen_text(y, x, width, style, text);
	if (wide > width && width > 1)
		screen_text(y, x + width - 1, 1, style, "+");
}

static void draw_titles(const struct top *top, const struct view *view)
{
	const struct layout *layout = &top->layout;
	int x = 0;

	screen_text(layout->titles, 0, layout->width, SCREEN_TITLE, "");
	for (size_t i = 0; i < view->set.count; i++) {
		const struct column *column = &view->set.columns[i];

		if (layout->widths[i] == 0)
			continue;
		draw_cell(layout->titles, x, layout->widths[i], i == view->sort ? SCREEN_TITLE_SORTED : SCREEN_TITLE,
			  column->align, column->title);
		x += layout->widths[i] + 1;
	}
}

static void draw_special(const struct column *column, const struct process *process, int y, int x, int width, int style)
{
	const struct qp_totals *totals = &process->target.totals;

	if (column->kind == COLUMN_BAR)
		draw_bar(y, x, width, style, totals->used_bytes, totals->cached_bytes);
	else
		draw_trend(y, x, width, style, &process->trend, TREND_HELD);
}

static void draw_row(const struct top *top, const struct view *view, const void *row, int y, int style)
{
	const struct layout *layout = &top->layout;
	int x = 0;

	screen_text(y, 0, layout->width, style, "");
	for (size_t i = 0; i < view->set.count; i++) {
		const struct column *column = &view->set.columns[i];
		char cell[TABLE_CELL_BYTES];

		if (layout->widths[i] == 0)
			continue;
		if (column->kind != COLUMN_TEXT) {
			draw_special(column, row, y, x, layout->widths[i], style);
		} else {
			column->format(row, cell, sizeof(cell));
			draw_cell(y, x, layout->widths[i], style, column->align, cell);
		}
		x += layout->widths[i] + 1;
	}
}

static int style_of_row(const struct top *top, const struct view *view, size_t place)
{
	const struct process *process = view == &top->processes ? view_row(view, place) : NULL;
	int style = process && (process->target.is_silent || !process->target.has_figures) ? SCREEN_DIM : SCREEN_PLAIN;

	return place == view->selected ? style | SCREEN_SELECTED : style;
}

static void draw_rows(const struct top *top, const struct view *view)
{
	for (int i = 0; i < top->layout.row_count; i++) {
		size_t place = view->first + (size_t)i;
		const void *row = view_row(view, place);

		if (!row)
			return;
		draw_row(top, view, row, top->layout.rows + i, style_of_row(top, view, place));
	}
}

static void draw_help(const struct top *top)
{
	int y = 0;

	screen_text(y++, 0, top->layout.width, SCREEN_TITLE, "qactl top: keys");
	for (size_t i = 0; i < keys_count; i++) {
		const struct keys_row *row = &keys_rows[i];

		if (!row->name || y >= top->layout.rows + top->layout.row_count)
			continue;
		screen_text(y, 1, 15, SCREEN_BOLD, row->name);
		screen_text(y++, 17, top->layout.width, SCREEN_PLAIN, row->help);
	}
	if (y + 2 < top->layout.rows + top->layout.row_count) {
		draw_bar(y + 1, 1, 14, SCREEN_PLAIN, 8, 6);
		screen_text(y + 1, 17, top->layout.width, SCREEN_PLAIN, "used and cached; the whole bar is held");
		screen_text(y + 2, 1, 15, SCREEN_BOLD, "5 MIN");
		screen_text(y + 2, 17, top->layout.width, SCREEN_PLAIN, "held in the last five minutes, from 0 up");
	}
}

void draw(const struct top *top)
{
	const struct view *view = top->page == TOP_PROCESS ? &top->classes : &top->processes;

	screen_clear();
	if (top->page == TOP_HELP) {
		draw_help(top);
	} else {
		draw_head(top);
		if (top->layout.titles >= 0)
			draw_titles(top, view);
		if (top->layout.rows >= 0)
			draw_rows(top, view);
	}
	draw_foot(top);
	screen_show();
}
