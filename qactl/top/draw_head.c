/*
 * The lines above and below the rows. Each fits a screen of 80 columns; on a narrower one its end is cut, so what
 * matters most comes first.
 */
#include <inttypes.h>
#include <stdio.h>

#include "size.h"
#include "text.h"
#include "top/columns.h"
#include "top/draw.h"
#include "top/keys.h"
#include "top/screen.h"

enum { LINE_BYTES = 2048, LABEL_WIDTH = 18 };

static void draw_list_head(const struct top *top)
{
	const struct layout *layout = &top->layout;
	const struct view *view = &top->processes;
	uint64_t held = 0, used = 0, cached = 0, rss = 0;
	char line[LINE_BYTES], filter[VIEW_FILTER_BYTES * 4] = "", sizes[4][SIZE_TEXT], percent[SIZE_TEXT];

	for (size_t i = 0; i < view->shown; i++) {
		const struct target *target = &((const struct process *)view_row(view, i))->target;

		held += target->totals.held_bytes;
		used += target->totals.used_bytes;
		cached += target->totals.cached_bytes;
		rss += target->rss_bytes;
	}
	if (layout->head >= 1) {
		int end = snprintf(line, sizeof(line), "qactl top: %zu process%s", top->list.count,
				   top->list.count == 1 ? "" : "es");

		if (view->filter[0]) {
			text_escape(filter, sizeof(filter), view->filter);
			end += snprintf(line + end, sizeof(line) - (size_t)end, ", %zu with \"%s\"", view->shown,
					filter);
		}
		if (top->list.left_out)
			end += snprintf(line + end, sizeof(line) - (size_t)end, ", %" PRIu64 " more are not shown",
					top->list.left_out);
		snprintf(line + end, sizeof(line) - (size_t)end, ", every %g s", (double)top->interval_ms / 1000);
		screen_text(0, 0, layout->width, SCREEN_BOLD, line);
	}
	if (layout->head >= 2) {
		size_format(held, sizes[0], sizeof(sizes[0]));
		size_format(used, sizes[1], sizeof(sizes[1]));
		size_format(cached, sizes[2], sizeof(sizes[2]));
		size_format(rss, sizes[3], sizeof(sizes[3]));
		size_format_percent(cached, held, percent, sizeof(percent));
		snprintf(line, sizeof(line), "held %s  used %s  cached %s (%s %%)  rss %s", sizes[0], sizes[1],
			 sizes[2], percent, sizes[3]);
		screen_text(1, 0, layout->width, SCREEN_PLAIN, line);
	}
	if (layout->head >= 3)
		draw_bar(2, 0, layout->width, SCREEN_PLAIN, used, cached);
}

/* "used    128.2 MiB" and its trend. */
static void draw_series(const struct top *top, int y, const char *what, uint64_t bytes, enum trend_series series)
{
	char size[SIZE_TEXT], line[LINE_BYTES];

	if (y >= top->layout.head)
		return;
	size_format(bytes, size, sizeof(size));
	snprintf(line, sizeof(line), "%-6s %10s", what, size);
	screen_text(y, 0, LABEL_WIDTH, SCREEN_PLAIN, line);
	draw_trend(y, LABEL_WIDTH, top->layout.width - LABEL_WIDTH,
		   series == TREND_USED     ? SCREEN_USED
		   : series == TREND_CACHED ? SCREEN_CACHED
					    : SCREEN_PLAIN,
		   &top->open.trend, series);
}

static void draw_name(const struct top *top)
{
	const struct target *target = &top->open.target;
	char line[LINE_BYTES], user[160], version[128], uptime[SIZE_TEXT], page[SIZE_TEXT];
	int end = snprintf(line, sizeof(line), "%s%s", top->who, top->is_ended ? " (ended)" : "");

	if (target->user[0]) {
		text_escape(user, sizeof(user), target->user);
		text_escape(version, sizeof(version), target->version);
		size_format_uptime(target->uptime_s, uptime, sizeof(uptime));
		size_format(target->totals.page_size, page, sizeof(page));
		end += snprintf(line + end, sizeof(line) - (size_t)end, ", user %s, up %s", user, uptime);
		if (target->inner_pid != target->pid)
			end += snprintf(line + end, sizeof(line) - (size_t)end, ", pid %" PRIu64 " in its container",
					target->inner_pid);
		snprintf(line + end, sizeof(line) - (size_t)end, ", libqa %s, pages of %s", version, page);
	}
	screen_text(0, 0, top->layout.width, SCREEN_BOLD, line);
}

static void draw_rates(const struct top *top, int y)
{
	const struct process *process = &top->open;
	char line[LINE_BYTES], allocs[SIZE_TEXT] = "-", frees[SIZE_TEXT] = "-", growth[SIZE_TEXT] = "-";

	if (y >= top->layout.head)
		return;
	if (process->has_rates) {
		columns_format_rate(process->allocs_s, allocs, sizeof(allocs));
		columns_format_rate(process->frees_s, frees, sizeof(frees));
		columns_format_growth(process->growth_s, growth, sizeof(growth));
	}
	snprintf(line, sizeof(line), "allocs/s %s  frees/s %s  growth/s %s  threads %" PRIu64, allocs, frees, growth,
		 process->target.totals.threads);
	screen_text(y, 0, top->layout.width, SCREEN_PLAIN, line);
}

static void draw_parts(const struct top *top, int y)
{
	const struct qp_totals *totals = &top->open.target.totals;
	char line[LINE_BYTES], parts[4][SIZE_TEXT], unreachable[SIZE_TEXT];
	int end;

	if (y >= top->layout.head)
		return;
	size_format(totals->thread_bytes, parts[0], sizeof(parts[0]));
	size_format(totals->partial_bytes, parts[1], sizeof(parts[1]));
	size_format(totals->empty_bytes, parts[2], sizeof(parts[2]));
	size_format(totals->slack_bytes, parts[3], sizeof(parts[3]));
	end = snprintf(line, sizeof(line), "cached: thread %s, partial %s, empty %s, slack %s", parts[0], parts[1],
		       parts[2], parts[3]);
	if (totals->unreachable_bytes) {
		size_format(totals->unreachable_bytes, unreachable, sizeof(unreachable));
		snprintf(line + end, sizeof(line) - (size_t)end, "; %s can not be trimmed now", unreachable);
	}
	screen_text(y, 0, top->layout.width, SCREEN_PLAIN, line);
}

static void draw_process_head(const struct top *top)
{
	const struct target *target = &top->open.target;
	const struct qp_totals *totals = &target->totals;

	if (top->layout.head >= 1)
		draw_name(top);
	draw_series(top, 1, "held", totals->held_bytes, TREND_HELD);
	draw_series(top, 2, "used", totals->used_bytes, TREND_USED);
	draw_series(top, 3, "cached", totals->cached_bytes, TREND_CACHED);
	draw_series(top, 4, "rss", target->rss_bytes, TREND_RSS);
	draw_parts(top, 5);
	draw_rates(top, 6);
	if (top->layout.head >= 8)
		draw_bar(7, 0, top->layout.width, SCREEN_PLAIN, totals->used_bytes, totals->cached_bytes);
}

void draw_head(const struct top *top)
{
	if (top->page == TOP_PROCESS)
		draw_process_head(top);
	else
		draw_list_head(top);
}

static void describe_keys(const struct top *top, char *line, size_t line_bytes)
{
	size_t end = 0;

	line[0] = '\0';
	for (size_t i = 0; i < keys_count && end < line_bytes; i++) {
		enum action action = keys_rows[i].action;

		if (!keys_rows[i].brief || (action == ACTION_OPEN && top->page != TOP_LIST) ||
		    (action == ACTION_BACK && top->page == TOP_LIST && !top->processes.filter[0]) ||
		    (action == ACTION_TRIM && top->is_readonly))
			continue;
		end += (size_t)snprintf(line + end, line_bytes - end, "%s%s", end ? "  " : "", keys_rows[i].brief);
	}
}

/* What is wrong, or unusual, in a line; false: nothing is. */
static bool describe_state(const struct top *top, char *line, size_t line_bytes)
{
	char age[SIZE_TEXT];

	if (top->link.problem[0]) {
		size_format_age((uint64_t)(client_clock_ms() - top->figures_ms), age, sizeof(age));
		if (top->figures_ms)
			snprintf(line, line_bytes, "%s; trying again. These figures are %s old.", top->link.problem,
				 age);
		else
			snprintf(line, line_bytes, "%s; trying again.", top->link.problem);
	} else if (top->page == TOP_PROCESS && top->is_ended) {
		snprintf(line, line_bytes, "It has ended; these are its last figures. Esc: back to the list");
	} else if (top->link.is_paused) {
		snprintf(line, line_bytes, "Paused: nobody is asked. p: go on");
	} else if (top->page == TOP_PROCESS && top->open.target.is_silent) {
		size_format_age(top->open.target.age_ms, age, sizeof(age));
		snprintf(line, line_bytes, "It does not answer. These figures are %s old.", age);
	} else if (top->page == TOP_LIST && top->figures_ms && top->list.count == 0) {
		snprintf(line, line_bytes, "No targets: a program shows up here when it runs on libqa. q: quit");
	} else {
		return false;
	}
	return true;
}

static void describe_prompt(const struct top *top, char *line, size_t line_bytes)
{
	char text[PROMPT_BYTES * 4];

	text_escape(text, sizeof(text), top->prompt.text);
	if (top->prompt.kind == PROMPT_FILTER)
		snprintf(line, line_bytes, "Only with: %s_", text);
	else if (top->prompt.kind == PROMPT_DELAY)
		snprintf(line, line_bytes, "Seconds between two looks: %s_", text);
	else
		snprintf(line, line_bytes, "Trim %s? y: yes, any other key: no", top->trim_who);
}

void draw_foot(const struct top *top)
{
	char line[LINE_BYTES];
	int style = SCREEN_PLAIN;

	if (top->layout.foot < 0)
		return;
	if (top->prompt.kind != PROMPT_NONE) {
		describe_prompt(top, line, sizeof(line));
		style = SCREEN_BOLD;
	} else if (top->message[0]) {
		snprintf(line, sizeof(line), "%s", top->message);
		style = SCREEN_BOLD;
	} else if (top->page == TOP_HELP) {
		snprintf(line, sizeof(line), "Any key: back");
	} else if (describe_state(top, line, sizeof(line))) {
		style = SCREEN_WARNING;
	} else {
		describe_keys(top, line, sizeof(line));
	}
	screen_text(top->layout.foot, 0, top->layout.width, style, line);
}
