/*
 * What keys do. Every wish of the user goes through here, whether from the keyboard, the mouse or the command line.
 */
#include "top/top.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "size.h"
#include "stats_read.h"
#include "text.h"
#include "top/columns.h"
#include "top/keys.h"

enum { WHEEL_ROWS = 3 };

void top_say(struct top *top, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(top->message, sizeof(top->message), format, arguments);
	va_end(arguments);
}

void top_forget_histories(struct top *top)
{
	top->open.is_history_asked = false;
	for (size_t i = 0; i < top->list.count; i++)
		top->list.items[i].is_history_asked = false;
}

static struct view *view_of_page(struct top *top)
{
	return top->page == TOP_PROCESS ? &top->classes : &top->processes;
}

static void close_process(struct top *top)
{
	stats_finish(&top->stats);
	memset(&top->stats, 0, sizeof(top->stats));
	top->classes.shown = 0;
	target_finish(&top->open.target);
	memset(&top->open, 0, sizeof(top->open));
	top->is_ended = false;
}

/* known NULL: nothing is known of it but its pid. */
static void open_process(struct top *top, uint64_t pid, const struct process *known, const char *who)
{
	close_process(top);
	if (known) {
		top->open = *known;
		top->open.target.exe = top->open.target.cgroup = NULL; /* those stay known's */
	}
	top->open.target.pid = pid;
	top->open.is_history_asked = false;
	snprintf(top->who, sizeof(top->who), "%s", who);
	top->classes.chosen = 0;
	top->classes.selected = top->classes.first = 0;
	top->classes.filter[0] = '\0';
	top->page = TOP_PROCESS;
	link_watch(&top->link, pid, top->interval_ms);
}

static void open_selected(struct top *top)
{
	const struct process *process = view_selected(&top->processes);
	char label[TARGET_LABEL_BYTES], who[sizeof(top->who)];

	if (!process)
		return;
	target_label(process->target.command, process->target.name, label, sizeof(label));
	snprintf(who, sizeof(who), "%s, pid %" PRIu64, label, process->target.pid);
	view_select(&top->processes, top->processes.selected);
	open_process(top, process->target.pid, process, who);
}

static void show_list(struct top *top)
{
	struct process *process = process_list_find(&top->list, top->open.target.pid);

	if (process)
		process->trend = top->open.trend;
	close_process(top);
	top_forget_histories(top);
	top->page = TOP_LIST;
	link_watch(&top->link, 0, top->interval_ms);
}

void top_init_views(struct top *top, const struct request *request)
{
	memset(top, 0, sizeof(*top));
	top->is_readonly = request->given & OPTION_READONLY;
	top->interval_ms = request->given & OPTION_DELAY ? request->interval_ms : TOP_INTERVAL_MS;
	columns_view_processes(&top->processes);
	columns_view_classes(&top->classes);
	if (request->given & OPTION_SORT)
		top->processes.sort = (size_t)column_find(&top->processes.set, request->sort);
	if (request->given & OPTION_FILTER)
		snprintf(top->processes.filter, sizeof(top->processes.filter), "%s", request->filter);
}

void top_init(struct top *top, const struct request *request, struct client *client, const struct resolve_match *match)
{
	top_init_views(top, request);
	link_init(&top->link, client, request->socket);
	if (match)
		open_process(top, match->pid, NULL, match->who);
	else
		link_watch(&top->link, 0, top->interval_ms);
}

void top_finish(struct top *top)
{
	close_process(top);
	process_list_finish(&top->list);
	view_finish(&top->processes);
	view_finish(&top->classes);
}

static void go_back(struct top *top)
{
	struct view *view = view_of_page(top);

	if (top->page == TOP_HELP)
		top->page = top->page_before;
	else if (view->filter[0])
		view->filter[0] = '\0';
	else if (top->page == TOP_PROCESS)
		show_list(top);
}

static void ask_about_trim(struct top *top, bool is_of_class)
{
	const struct process *process = top->page == TOP_PROCESS ? &top->open : view_selected(&top->processes);
	const struct stats_row *row = is_of_class ? view_selected(&top->classes) : NULL;
	char label[TARGET_LABEL_BYTES], part[200] = "", name[160];

	if (top->is_readonly) {
		top_say(top, "Nothing is trimmed: top was started with --readonly.");
		return;
	}
	if (!process || top->page == TOP_HELP || (top->page == TOP_PROCESS && top->is_ended) ||
	    (is_of_class &&
	     (!row || top->page != TOP_PROCESS || (row->figures.block_size == 0 && !row->figures.name[0]))))
		return;
	top->trim_pid = process->target.pid;
	top->trim_block_size = row ? row->figures.block_size : 0;
	top->trim_pool[0] = '\0';
	if (row && row->figures.name[0]) {
		memcpy(top->trim_pool, row->figures.name, sizeof(top->trim_pool));
		text_escape(name, sizeof(name), row->figures.name);
		snprintf(part, sizeof(part), "pool %s of ", name);
	} else if (row) {
		snprintf(part, sizeof(part), "blocks of %" PRIu64 " bytes of ", row->figures.block_size);
	}
	target_label(process->target.command, process->target.name, label, sizeof(label));
	snprintf(top->trim_who, sizeof(top->trim_who), "%s%s, pid %" PRIu64, part, label, top->trim_pid);
	prompt_begin(&top->prompt, PROMPT_TRIM, "");
}

static void trim(struct top *top)
{
	int error = link_ask_trim(&top->link, top->trim_pid, top->trim_block_size, top->trim_pool);

	if (error == -EBUSY) {
		top_say(top, "Not asked: too many answers are awaited; try again in a moment.");
	} else if (error < 0) {
		top_say(top, "Not asked: qad is away.");
	} else {
		top->trims_open++;
		top_say(top, "Trimming %s ...", top->trim_who);
	}
}

static void set_delay(struct top *top)
{
	unsigned delay_ms;

	if (!prompt_read_delay(top->prompt.text, &delay_ms)) {
		top_say(top, "Not a delay: it is a number of seconds, 0.1 or more.");
		return;
	}
	top->interval_ms = delay_ms;
	link_watch(&top->link, top->link.pid, delay_ms);
}

static void take_prompt_key(struct top *top, int key)
{
	enum prompt_kind kind = top->prompt.kind;
	enum prompt_news news = prompt_key(&top->prompt, key);
	char *filter = view_of_page(top)->filter;

	if (news == PROMPT_GOES_ON)
		return;
	if (kind == PROMPT_FILTER)
		snprintf(filter, VIEW_FILTER_BYTES, "%s", news == PROMPT_GIVEN_UP ? "" : top->prompt.text);
	if (news == PROMPT_CHANGED)
		return;
	top->prompt.kind = PROMPT_NONE;
	if (news == PROMPT_DONE && kind == PROMPT_DELAY)
		set_delay(top);
	else if (news == PROMPT_DONE && kind == PROMPT_TRIM)
		trim(top);
	else if (kind == PROMPT_TRIM)
		top_say(top, "Not trimmed.");
}

static void sort_by(struct top *top, const char *name)
{
	struct view *view = view_of_page(top);

	view->sort = (size_t)column_find(&view->set, name);
	view->is_turned = false;
}

static void sort_by_neighbour(struct top *top, int step)
{
	struct view *view = view_of_page(top);

	view_sort_by(view, column_next(&view->set, view->sort, step));
}

static void begin_delay(struct top *top)
{
	char text[32];

	snprintf(text, sizeof(text), "%g", (double)top->interval_ms / 1000);
	prompt_begin(&top->prompt, PROMPT_DELAY, text);
}

static void show_help(struct top *top)
{
	if (top->page == TOP_HELP) {
		go_back(top);
		return;
	}
	top->page_before = top->page;
	top->page = TOP_HELP;
}

static void act(struct top *top, enum action action)
{
	struct view *view = view_of_page(top);
	long page = top->layout.row_count > 1 ? top->layout.row_count - 1 : 1;

	switch (action) {
	case ACTION_UP:
		view_move(view, -1);
		break;
	case ACTION_DOWN:
		view_move(view, 1);
		break;
	case ACTION_PAGE_UP:
		view_move(view, -page);
		break;
	case ACTION_PAGE_DOWN:
		view_move(view, page);
		break;
	case ACTION_HOME:
		view_select(view, 0);
		break;
	case ACTION_END:
		view_select(view, SIZE_MAX);
		break;
	case ACTION_OPEN:
		if (top->page == TOP_LIST)
			open_selected(top);
		break;
	case ACTION_CLASSES:
		if (top->page == TOP_LIST)
			open_selected(top);
		else if (top->page == TOP_PROCESS)
			show_list(top);
		break;
	case ACTION_BACK:
		go_back(top);
		break;
	case ACTION_FILTER:
		prompt_begin(&top->prompt, PROMPT_FILTER, view->filter);
		break;
	case ACTION_SORT_NEXT:
		sort_by_neighbour(top, 1);
		break;
	case ACTION_SORT_BEFORE:
		sort_by_neighbour(top, -1);
		break;
	case ACTION_TURN:
		view_sort_by(view, view->sort);
		break;
	case ACTION_SORT_CACHED:
		sort_by(top, "cached");
		break;
	case ACTION_SORT_USED:
		sort_by(top, "used");
		break;
	case ACTION_TRIM:
		ask_about_trim(top, false);
		break;
	case ACTION_TRIM_CLASS:
		ask_about_trim(top, true);
		break;
	case ACTION_PAUSE:
		link_pause(&top->link, !top->link.is_paused);
		top_forget_histories(top);
		break;
	case ACTION_DELAY:
		begin_delay(top);
		break;
	case ACTION_HELP:
		show_help(top);
		break;
	case ACTION_QUIT:
		top->is_done = true;
		break;
	case ACTION_NONE:
		break;
	}
}

/* A click on a title sorts, on a row selects it, on the selected row opens it. */
static void click(struct top *top, int x, int y)
{
	const struct layout *layout = &top->layout;
	struct view *view = view_of_page(top);
	int column;

	if (top->page == TOP_HELP) {
		go_back(top);
	} else if (y == layout->titles) {
		column = column_at(&view->set, layout->widths, x);
		if (column >= 0 && view->set.columns[column].name)
			view_sort_by(view, (size_t)column);
	} else if (layout->rows >= 0 && y >= layout->rows && y < layout->rows + layout->row_count) {
		size_t place = view->first + (size_t)(y - layout->rows);

		if (place >= view->shown)
			return;
		if (place == view->selected && view->chosen && top->page == TOP_LIST)
			open_selected(top);
		else
			view_select(view, place);
	}
}

void top_take_key(struct top *top, int key, int x, int y)
{
	enum action action = keys_find(key);

	top->message[0] = '\0';
	if (top->prompt.kind != PROMPT_NONE) {
		take_prompt_key(top, key);
		return;
	}
	if (key == KEYS_CLICK)
		click(top, x, y);
	else if (top->page == TOP_HELP)
		act(top, action == ACTION_QUIT ? ACTION_QUIT : action == ACTION_HELP ? ACTION_HELP : ACTION_BACK);
	else if (key == KEYS_WHEEL_UP || key == KEYS_WHEEL_DOWN)
		view_move(view_of_page(top), key == KEYS_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS);
	else
		act(top, action);
}
