/*
 * A title, a legend with the newest figures, the picture beside its axis, the axis of time with a mark for each trim,
 * its labels, and a line that tells the trims. Without colours the two areas differ by their shade, so that a picture
 * in a mail can be read; with colours a cell can show where one ends within it. Rows of the picture are written cell by
 * cell, with a change of colour only where it changes.
 */
#include "plot_print.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "size.h"
#include "text.h"

enum { AXIS_COLUMNS = 12, LINES_AROUND = 5, CLOCK_BYTES = 16 };

struct style {
	const char *used, *cached, *rss, *mark;
	const char *side, *tick, *corner, *floor, *time;
};

static const struct style styles[] = {
	{"#", ":", "-", "^", "|", "+", "+", "-", "+"},
	{"\u2588", "\u2591", "\u2501", "\u25b2", "\u2502", "\u2524", "\u2514", "\u2500", "\u252c"},
};

static const char *const eighths[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
				      "\u2585", "\u2586", "\u2587", "\u2588"};

#define COLOUR_USED "34"
#define COLOUR_CACHED "33"
#define COLOUR_RSS "35"
#define COLOUR_NONE ""

struct drawing {
	FILE *out;
	const struct plot_data *data;
	const struct style *style;
	const char *line_end;
	const char *colour; /* the one in force */
	bool has_colours, is_utf8;
	size_t columns, rows; /* of the picture */
	uint64_t step_bytes, top_bytes;
};

static void set_colour(struct drawing *drawing, const char *colour)
{
	if (!drawing->has_colours || strcmp(drawing->colour, colour) == 0)
		return;
	fprintf(drawing->out, "\033[0%s%sm", *colour ? ";" : "", colour);
	drawing->colour = colour;
}

static void end_line(struct drawing *drawing)
{
	set_colour(drawing, COLOUR_NONE);
	fprintf(drawing->out, "%s\n", drawing->line_end);
}

static void format_clock(uint64_t time_ms, char text[CLOCK_BYTES])
{
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm parts;

	if (!localtime_r(&seconds, &parts) || strftime(text, CLOCK_BYTES, "%H:%M:%S", &parts) == 0)
		snprintf(text, CLOCK_BYTES, "-");
}

/* The newest figures, each after what it is drawn with. */
static void print_legend(struct drawing *drawing)
{
	const struct plot_point *last = &drawing->data->points[drawing->data->count - 1];
	const char *const words[] = {"used", "cached", "rss"};
	const char *const signs[] = {drawing->style->used, drawing->style->cached, drawing->style->rss};
	const char *const colours[] = {COLOUR_USED, COLOUR_CACHED, COLOUR_RSS};
	const uint64_t bytes[] = {last->used_bytes, last->cached_bytes, last->rss_bytes};

	for (size_t i = 0; i < 3; i++) {
		char size[SIZE_TEXT];

		size_format_short(bytes[i], size, sizeof(size));
		set_colour(drawing, colours[i]);
		fprintf(drawing->out, "%s%s", i ? "  " : "",
			drawing->has_colours && i < 2 ? drawing->style->used : signs[i]);
		set_colour(drawing, COLOUR_NONE);
		fprintf(drawing->out, " %s %s", words[i], size);
	}
	end_line(drawing);
}

/* Cut to the width, as a label may be long. */
static void print_title(struct drawing *drawing, size_t columns)
{
	char from[CLOCK_BYTES], to[CLOCK_BYTES], text[TARGET_LABEL_BYTES + 64];
	int room;

	format_clock(drawing->data->from_ms, from);
	format_clock(drawing->data->to_ms, to);
	snprintf(text, sizeof(text), ", pid %" PRIu64 ", %s to %s", drawing->data->pid, from, to);
	room = (int)columns - (int)strlen(text);
	if (text_width(drawing->data->label) <= (size_t)(room > 0 ? room : 0))
		fputs(drawing->data->label, drawing->out);
	else
		fputs("...", drawing->out);
	fputs(text, drawing->out);
	end_line(drawing);
}

/* What covers more of the cell; with colours, both. */
static void print_area(struct drawing *drawing, const struct plot_cell *cell)
{
	unsigned held = cell->used + cell->cached;
	bool is_used = cell->used >= cell->cached && cell->used > 0;

	if (drawing->has_colours && drawing->is_utf8) {
		set_colour(drawing, held == 0                          ? COLOUR_NONE
				    : held == 8 && cell->used % 8 != 0 ? COLOUR_USED ";43"
				    : is_used                          ? COLOUR_USED
								       : COLOUR_CACHED);
		fputs(held == 8 && cell->used % 8 != 0 ? eighths[cell->used] : eighths[held], drawing->out);
		return;
	}
	set_colour(drawing, held < 4 ? COLOUR_NONE : is_used ? COLOUR_USED : COLOUR_CACHED);
	fputs(held < 4 ? " " : is_used ? drawing->style->used : drawing->style->cached, drawing->out);
}

/* Fills the cells of a row. Returns how many there are without the empty ones at its end. */
static size_t find_cells(const struct drawing *drawing, size_t row, struct plot_cell *cells)
{
	const struct plot_data *data = drawing->data;
	size_t end = 0;

	for (size_t i = 0; i < drawing->columns; i++) {
		uint64_t from_ms = plot_edge(data->from_ms, data->to_ms, i, drawing->columns);
		uint64_t to_ms = plot_edge(data->from_ms, data->to_ms, i + 1, drawing->columns);
		struct plot_point column;

		memset(&cells[i], 0, sizeof(cells[i]));
		if (plot_column(data->points, data->count, from_ms, to_ms, data->gap_ms, &column))
			cells[i] = plot_cell(&column, row, drawing->rows, drawing->top_bytes);
		if (cells[i].is_rss || cells[i].used + cells[i].cached > 0)
			end = i + 1;
	}
	return end;
}

static void print_row(struct drawing *drawing, size_t row)
{
	struct plot_cell cells[drawing->columns];
	size_t end = find_cells(drawing, row, cells);
	char label[SIZE_TEXT] = "";
	bool is_tick = false;

	for (uint64_t tick = 0; tick <= drawing->top_bytes; tick += drawing->step_bytes) {
		if (plot_row(tick, drawing->rows, drawing->top_bytes) != row)
			continue;
		size_format(tick, label, sizeof(label));
		is_tick = true;
	}
	fprintf(drawing->out, "%*s %s", AXIS_COLUMNS - 2, label, is_tick ? drawing->style->tick : drawing->style->side);
	for (size_t i = 0; i < end; i++) {
		if (cells[i].is_rss) {
			set_colour(drawing, COLOUR_RSS);
			fputs(drawing->style->rss, drawing->out);
		} else {
			print_area(drawing, &cells[i]);
		}
	}
	end_line(drawing);
}

static size_t column_of(const struct drawing *drawing, uint64_t time_ms)
{
	const struct plot_data *data = drawing->data;
	uint64_t span_ms = data->to_ms - data->from_ms;
	size_t column =
		span_ms ? (size_t)((double)(time_ms - data->from_ms) * (double)drawing->columns / (double)span_ms) : 0;

	return column < drawing->columns ? column : drawing->columns - 1;
}

static bool is_shown(const struct plot_data *data, uint64_t time_ms)
{
	return time_ms >= data->from_ms && time_ms <= data->to_ms;
}

/* The first round moment of local time that is shown. */
static uint64_t first_tick_ms(const struct plot_data *data, uint64_t step_s)
{
	time_t seconds = (time_t)((data->from_ms + 999) / 1000);
	struct tm parts;
	long offset_s = localtime_r(&seconds, &parts) ? parts.tm_gmtoff : 0;
	uint64_t local_s = (uint64_t)(seconds + offset_s);

	return (uint64_t)(seconds + (time_t)((step_s - local_s % step_s) % step_s)) * 1000;
}

/* The line below the picture, and the clock below that. */
static void print_time_axis(struct drawing *drawing)
{
	const struct plot_data *data = drawing->data;
	uint64_t step_s = plot_step_s(data->to_ms - data->from_ms, drawing->columns / CLOCK_BYTES);
	const char *line[drawing->columns];
	char labels[drawing->columns + 1], text[CLOCK_BYTES];

	memset(labels, ' ', drawing->columns);
	labels[drawing->columns] = '\0';
	for (size_t i = 0; i < drawing->columns; i++)
		line[i] = drawing->style->floor;
	for (uint64_t at_ms = first_tick_ms(data, step_s); at_ms <= data->to_ms; at_ms += step_s * 1000) {
		size_t column = column_of(drawing, at_ms);

		line[column] = drawing->style->time;
		format_clock(at_ms, text);
		if (column + strlen(text) <= drawing->columns)
			memcpy(labels + column, text, strlen(text));
	}
	for (size_t i = 0; i < data->mark_count; i++)
		if (is_shown(data, data->marks[i].time_ms))
			line[column_of(drawing, data->marks[i].time_ms)] = drawing->style->mark;
	fprintf(drawing->out, "%*s %s", AXIS_COLUMNS - 2, "", drawing->style->corner);
	for (size_t i = 0; i < drawing->columns; i++)
		fputs(line[i], drawing->out);
	end_line(drawing);
	for (size_t end = drawing->columns; end > 0 && labels[end - 1] == ' '; end--)
		labels[end - 1] = '\0';
	fprintf(drawing->out, "%*s%s", AXIS_COLUMNS, "", labels);
	end_line(drawing);
}

/* The newest that is shown, and how many more are. */
static void print_marks(struct drawing *drawing)
{
	const struct plot_data *data = drawing->data;
	const struct plot_mark *newest = NULL;
	size_t count = 0;
	char clock[CLOCK_BYTES], returned[SIZE_TEXT];

	for (size_t i = 0; i < data->mark_count; i++) {
		if (!is_shown(data, data->marks[i].time_ms))
			continue;
		newest = &data->marks[i];
		count++;
	}
	if (newest) {
		format_clock(newest->time_ms, clock);
		size_format(newest->returned_bytes, returned, sizeof(returned));
		fprintf(drawing->out, "%*s%s trim %s: %s", AXIS_COLUMNS, "", drawing->style->mark, clock, returned);
		if (count > 1)
			fprintf(drawing->out, "; %zu before", count - 1);
	}
	end_line(drawing);
}

static uint64_t find_most(const struct plot_data *data)
{
	uint64_t most = 0;

	for (size_t i = 0; i < data->count; i++) {
		uint64_t held = data->points[i].used_bytes + data->points[i].cached_bytes;

		if (!is_shown(data, data->points[i].time_ms))
			continue;
		most = held > most ? held : most;
		most = data->points[i].rss_bytes > most ? data->points[i].rss_bytes : most;
	}
	return most;
}

void plot_print(FILE *out, const struct plot_data *data, const struct terminal *terminal, const char *line_end)
{
	uint64_t most_bytes = find_most(data);
	struct drawing drawing = {
		.out = out,
		.data = data,
		.style = &styles[terminal->is_utf8],
		.line_end = line_end,
		.colour = COLOUR_NONE,
		.has_colours = terminal->has_colours,
		.is_utf8 = terminal->is_utf8,
		.columns = terminal->columns - AXIS_COLUMNS,
		.rows = terminal->lines - LINES_AROUND,
	};

	drawing.step_bytes = plot_step_bytes(most_bytes, drawing.rows / 3);
	drawing.top_bytes = plot_top_bytes(most_bytes, drawing.step_bytes);
	print_title(&drawing, terminal->columns);
	print_legend(&drawing);
	for (size_t row = drawing.rows; row-- > 0;)
		print_row(&drawing, row);
	print_time_axis(&drawing);
	print_marks(&drawing);
}
