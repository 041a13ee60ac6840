/*
 * watch: a line for each target, again and again, as qad's notifications come. It ends by itself after --count times,
 * when the one target that it watches ends, or by a signal.
 */
#include <sysexits.h>

#include "command.h"
#include "follow.h"
#include "output.h"
#include "stream.h"
#include "with_qad.h"

static int print(void *context, const struct round *round)
{
	return stream_print(context, round);
}

static int watch(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	struct stream stream;
	struct follow follow = {
		.targets = targets,
		.interval_ms = request->interval_ms,
		.classes = request->given & OPTION_CLASSES,
		.is_on_stdout = true,
		.count = request->count,
		.take = print,
		.context = &stream,
	};

	stream_init(&stream, request, false);
	return follow_run(client, &follow);
}

static int run(const struct request *request)
{
	struct resolve_query query = {.operand = request->target, .advice = "name one by its pid, or watch all"};

	if ((request->given & OPTION_CLASSES) && (!request->target || !(request->given & OPTION_JSON))) {
		output_say("--classes: of one TARGET, and with --json");
		return EX_USAGE;
	}
	return with_qad(request, request->target ? &query : NULL, watch);
}

const struct command command_watch = {
	.name = "watch",
	.operand = "TARGET",
	.summary = "show figures again and again",
	.description = "Prints a line for each target once a second, or as often as --interval says.\n"
		       "TARGET is a pid, a command name or a QA_NAME; without it all targets are shown.\n"
		       "With --json each line is a JSON object, with --csv a record of always the same\n"
		       "columns. Ends with TARGET, after --count times, or by Ctrl-C.\n",
	.options = OPTION_JSON | OPTION_CSV | OPTION_CLASSES | OPTION_INTERVAL | OPTION_COUNT,
	.is_target_optional = true,
	.run = run,
};
