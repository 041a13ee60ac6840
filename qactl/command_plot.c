/*
 * plot: used, cached and rss over the time that is recorded, in qad or in a file. With --follow it watches the target,
 * so that qad records it, and draws anew with each notification.
 */
#include <sysexits.h>

#include "command.h"
#include "follow.h"
#include "output.h"
#include "plot_data.h"
#include "plot_print.h"
#include "terminal.h"
#include "with_qad.h"

struct plotting {
	const struct request *request;
	struct client *client;
	const struct resolve_result *targets;
	uint64_t drawn;
};

/* The size that is asked for, or of the terminal less the line of the prompt; never too small to draw. */
static void look(const struct request *request, struct terminal *terminal)
{
	terminal_look(terminal);
	if (terminal->is_terminal)
		terminal->lines--;
	if (request->given & OPTION_WIDTH)
		terminal->columns = request->width;
	if (request->given & OPTION_HEIGHT)
		terminal->lines = request->height;
	if (terminal->columns < PLOT_COLUMNS_LEAST)
		terminal->columns = PLOT_COLUMNS_LEAST;
	if (terminal->lines < PLOT_LINES_LEAST)
		terminal->lines = PLOT_LINES_LEAST;
}

static int draw(const struct request *request, const struct plot_data *data)
{
	struct terminal terminal;

	look(request, &terminal);
	plot_print(stdout, data, &terminal, "");
	return 0;
}

static int draw_again(struct plotting *plotting, const struct plot_data *data)
{
	struct terminal terminal;

	look(plotting->request, &terminal);
	if (terminal.is_terminal)
		fputs(plotting->drawn++ == 0 ? "\033[2J\033[H" : "\033[H", stdout);
	else if (plotting->drawn++ > 0)
		putchar('\n');
	plot_print(stdout, data, &terminal, terminal.is_terminal ? "\033[K" : "");
	if (terminal.is_terminal)
		fputs("\033[J", stdout);
	return output_flush();
}

static int ask(const struct plotting *plotting, struct plot_data *data)
{
	const struct request *request = plotting->request;

	return plot_data_ask(data, plotting->client, &plotting->targets->matches[0], request->since_s, request->step_s);
}

/* Notifications that come before the answer are not needed: the answer is newer. */
static int take(void *context, const struct round *round)
{
	struct plotting *plotting = context;
	struct client *client = plotting->client;
	struct plot_data data = {.count = 0};
	int status, stop_fd = client->stop_fd;

	(void)round; /* qad has it in its history by now */
	/* This question is answered soon; who stops or does not read any more is seen after it. */
	client->takes_notifications = client->stops_with_output = false;
	client->stop_fd = -1;
	status = ask(plotting, &data);
	client->takes_notifications = client->stops_with_output = true;
	client->stop_fd = stop_fd;
	if (status == 0 && data.count > 0)
		status = draw_again(plotting, &data);
	plot_data_finish(&data);
	return status;
}

static int fail_empty(const struct plotting *plotting)
{
	const struct resolve_match *match = &plotting->targets->matches[0];

	if (plotting->request->given & (OPTION_SINCE | OPTION_STEP))
		output_say("%s: nothing is recorded of that time", match->who);
	else
		output_say("%s: nothing is recorded", match->who);
	fprintf(stderr,
		"qad records a target while somebody watches it: leave 'qactl watch %llu' running for a while,\n"
		"or use --follow; or start qad with --history, which always records all.\n",
		(unsigned long long)match->pid);
	return EX_NOINPUT;
}

static int plot(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	struct plotting plotting = {.request = request, .client = client, .targets = targets};
	struct plot_data data = {.count = 0};
	struct follow follow = {
		.targets = targets,
		.interval_ms = request->step_s * 1000,
		.is_on_stdout = true,
		.take = take,
		.context = &plotting,
	};
	int status;

	if (request->given & OPTION_FOLLOW)
		return follow_run(client, &follow);
	status = ask(&plotting, &data);
	if (status == 0)
		status = data.count > 0 ? draw(request, &data) : fail_empty(&plotting);
	plot_data_finish(&data);
	return status;
}

static int plot_file(const struct request *request)
{
	struct plot_data data = {.count = 0};
	int status = plot_data_read(&data, request->file, request->target, request->since_s);

	if ((status == 0 || status == EX_DATAERR) && data.count > 0)
		draw(request, &data);
	else if (status == 0) {
		output_say("the recording has no figures");
		status = EX_NOINPUT;
	}
	plot_data_finish(&data);
	return status;
}

static int run(const struct request *request)
{
	struct resolve_query query = {.operand = request->target, .advice = "name one by its pid"};

	if ((request->given & OPTION_FILE) && (request->given & (OPTION_FOLLOW | OPTION_STEP))) {
		output_say("--file: has its own steps, and does not go on; so without --step and --follow");
		return EX_USAGE;
	}
	if (((request->given & OPTION_WIDTH) && request->width < PLOT_COLUMNS_LEAST) ||
	    ((request->given & OPTION_HEIGHT) && request->height < PLOT_LINES_LEAST)) {
		output_say("a plot has at least %d columns and %d lines", PLOT_COLUMNS_LEAST, PLOT_LINES_LEAST);
		return EX_USAGE;
	}
	return request->given & OPTION_FILE ? plot_file(request) : with_qad(request, &query, plot);
}

const struct command command_plot = {
	.name = "plot",
	.operand = "TARGET",
	.summary = "draw used, cached and rss over time",
	.description = "Draws what qad has recorded of a target, or with --file what 'qactl record' wrote:\n"
		       "used and cached as areas, one on the other, rss as a line, trims as marks below.\n"
		       "qad records a target while somebody watches it, or always with 'qad --history'.\n",
	.options = OPTION_FILE | OPTION_SINCE | OPTION_STEP | OPTION_FOLLOW | OPTION_WIDTH | OPTION_HEIGHT,
	.target_optional_with = OPTION_FILE,
	.run = run,
};
