/*
 * replay: shows a recording as watch showed it. Needs no qad.
 */
#include <stdio.h>
#include <sysexits.h>

#include "command.h"
#include "replay.h"
#include "stop.h"
#include "stream.h"

struct playing {
	struct stream stream;
	double speed; /* 0: at once */
	uint64_t last_ms;
	int stop_fd;
	bool is_stopped;
};

static uint64_t wait_ms(const struct playing *playing, uint64_t time_ms)
{
	if (playing->speed <= 0 || playing->last_ms == 0 || time_ms < playing->last_ms)
		return 0;
	return (uint64_t)((double)(time_ms - playing->last_ms) / playing->speed);
}

static int print(void *context, const struct round *round, bool has_classes)
{
	struct playing *playing = context;

	playing->is_stopped = stop_wait(playing->stop_fd, wait_ms(playing, round->time_ms));
	if (playing->is_stopped)
		return EX_SOFTWARE; /* ends it; nobody sees this status */
	playing->last_ms = round->time_ms;
	playing->stream.has_classes = has_classes;
	return stream_print(&playing->stream, round);
}

static int run(const struct request *request)
{
	struct playing playing = {.speed = request->speed};
	struct replay replay = {
		.path = request->target,
		.target = request->word_count > 0 ? request->words[0] : NULL,
		.take = print,
		.context = &playing,
	};
	int status;

	stream_init(&playing.stream, request, false);
	playing.stop_fd = stop_open();
	status = replay_run(&replay);
	return playing.is_stopped ? 0 : status;
}

const struct command command_replay = {
	.name = "replay",
	.operand = "FILE",
	.rest = " [TARGET]",
	.rest_words = 1,
	.missing = "name the file that 'qactl record' wrote",
	.summary = "show what record wrote",
	.description = "Shows a recording as 'watch' showed the figures then; - is standard input. With\n"
		       "TARGET only that one. Of a file that is damaged what is whole is shown, stderr says\n"
		       "where it is not, and the exit status is 65.\n",
	.options = OPTION_JSON | OPTION_CSV | OPTION_SPEED,
	.run = run,
};
