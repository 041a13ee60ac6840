/*
 * top: on a terminal a screen that follows (top/), else one frame. Who has no terminal, or built qactl without ncurses,
 * still gets that frame.
 */
#include "command.h"

#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "output.h"
#include "protocol.h"
#include "text.h"
#include "top/columns.h"
#include "top/top.h"
#include "with_qad.h"

#ifndef QACTL_HAS_SCREEN
int top_run(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	(void)client;
	(void)request;
	(void)targets;
	output_say(
		"this qactl was built without ncurses, so it has no screen; 'qactl top --once' prints one frame.\n"
		"With ncurses (Debian: libncurses-dev) installed, build it anew, with meson's option -Dtop=enabled.");
	return EX_USAGE;
}
#endif

static int check_sort(const struct request *request)
{
	struct view view;
	char shown[512];

	columns_view_processes(&view);
	if (!(request->given & OPTION_SORT) || column_find(&view.set, request->sort) >= 0)
		return 0;
	text_escape(shown, sizeof(shown), request->sort);
	output_say("--sort %s: there is no such column; it is one of", shown);
	for (size_t i = 0; i < view.set.count; i++)
		if (view.set.columns[i].name)
			fprintf(stderr, "  %s\n", view.set.columns[i].name);
	return EX_USAGE;
}

static int run(const struct request *request)
{
	struct resolve_query query = {.operand = request->target, .advice = "name one by its pid, or use --filter"};
	bool is_once = (request->given & OPTION_ONCE) || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);

	if (check_sort(request) != 0)
		return EX_USAGE;
	if ((request->given & OPTION_DELAY) && request->interval_ms < QP_WATCH_MS) {
		output_say("--delay: 0.1 seconds is the least");
		return EX_USAGE;
	}
	return with_qad(request, request->target ? &query : NULL, is_once ? top_print_once : top_run);
}

const struct command command_top = {
	.name = "top",
	.operand = "TARGET",
	.summary = "follow all programs on a screen, open one, trim it",
	.description = "Shows the targets on a screen that is kept up to date: bars of what is used and cached,\n"
		       "rates, the last five minutes. Enter opens one: its size classes and named pools.\n"
		       "With TARGET (a pid, a command name or a QA_NAME) that one is opened at once.\n"
		       "Press h for the keys. When input or output is no terminal, or with --once, it prints\n"
		       "one frame and ends.\n"
		       "\n"
		       "  ALLOC/S, FREE/S  allocations and frees a second\n"
		       "  GROW/S           how much HELD grows a second\n"
		       "  5 MIN            HELD in the last five minutes\n"
		       "  the others       as in 'qactl ps' and 'qactl stats'\n",
	.options = OPTION_ONCE | OPTION_READONLY | OPTION_SORT | OPTION_FILTER | OPTION_DELAY,
	.is_target_optional = true,
	.run = run,
};
