/*
 * Before each drawing the rows are put in order, and those that will be seen are asked for their history: of thousands
 * of processes only a screenful.
 */
#include <stddef.h>

#include "top/layout.h"
#include "top/top.h"

enum { HISTORY_S = TREND_POINTS * TREND_STEP_MS / 1000 };

/* What there was before top began to watch, of each process when it is seen first. */
static void ask_histories(struct top *top)
{
	if (top->page == TOP_HELP)
		return;
	if (top->page == TOP_PROCESS) {
		if (!top->open.is_history_asked && link_has_room(&top->link))
			top->open.is_history_asked = link_ask_history(&top->link, top->open.target.pid, HISTORY_S) == 0;
		return;
	}
	for (int i = 0; i < top->layout.row_count && link_has_room(&top->link); i++) {
		const struct process *row = view_row(&top->processes, top->processes.first + (size_t)i);
		struct process *process = row ? process_list_find(&top->list, row->target.pid) : NULL;

		if (process && !process->is_history_asked)
			process->is_history_asked = link_ask_history(&top->link, process->target.pid, HISTORY_S) == 0;
	}
}

void top_arrange(struct top *top, int width, int height)
{
	enum top_page page = top->page == TOP_HELP ? top->page_before : top->page;
	struct view *view = page == TOP_PROCESS ? &top->classes : &top->processes;
	int error;

	layout_make(&top->layout, top->page, &view->set, width, height);
	if (page == TOP_PROCESS)
		error = view_arrange(view, top->stats.rows, top->stats.row_count);
	else
		error = view_arrange(view, top->list.items, top->list.count);
	if (error < 0)
		top_say(top, "Out of memory: the rows may not be in order.");
	if (top->page != TOP_HELP)
		view_scroll(view, (size_t)(top->layout.row_count > 0 ? top->layout.row_count : 0));
	ask_histories(top);
}
