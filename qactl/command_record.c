/*
 * record: what watch shows, into a file, a line as it comes. However it ends, what was written can be read; a recording
 * that ended in an orderly way has a last line that says so.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sysexits.h>

#include "command.h"
#include "follow.h"
#include "output.h"
#include "record_file.h"
#include "record_line.h"
#include "size.h"
#include "text.h"
#include "with_qad.h"

struct recording {
	struct record_file file;
	bool classes;
	uint64_t dropped; /* by qad, as this did not keep up */
};

static int take(void *context, const struct round *round)
{
	struct recording *recording = context;
	int status = record_file_write(&recording->file, record_line_round(round, recording->classes));

	recording->dropped += round->dropped;
	recording->file.records += status == 0;
	return status;
}

static void say_sum(const struct recording *recording)
{
	const struct record_file *file = &recording->file;
	char path[1024], size[SIZE_TEXT];

	text_escape(path, sizeof(path), file->path);
	size_format((uint64_t)file->whole_bytes, size, sizeof(size));
	if (file->records == 0)
		output_say("nothing was recorded");
	else
		output_say("%" PRIu64 " record%s, %s, in %s; see 'qactl replay'", file->records,
			   file->records == 1 ? "" : "s", size, path);
	if (recording->dropped)
		output_say("%" PRIu64 " more were left out by qad, as these were not written fast enough",
			   recording->dropped);
}

static int record_into(struct client *client, const struct request *request, const struct resolve_result *targets,
		       struct recording *recording)
{
	struct follow follow = {
		.targets = targets,
		.interval_ms = request->interval_ms,
		.classes = recording->classes,
		.count = request->count,
		.duration_ms = request->duration_ms,
		.take = take,
		.context = recording,
	};
	uint64_t interval_ms = request->interval_ms ? request->interval_ms : 1000;
	int status = record_file_write(&recording->file, record_line_header(interval_ms, recording->classes)), end;

	if (status != 0)
		return status;
	status = follow_run(client, &follow);
	/* That the program ended is a usual end of its recording. */
	if (status == EX_NOUSER && recording->file.records > 0)
		status = 0;
	if (!recording->file.has_failed && recording->file.records > 0) {
		end = record_file_write(&recording->file, record_line_end(recording->file.records));
		status = status ? status : end;
	}
	return status;
}

/* Several TARGETs may mean the same process. */
static int add_targets(struct client *client, const char *word, struct resolve_result *all)
{
	struct resolve_query query = {.operand = word, .advice = "name them by their pids"};
	struct resolve_result one;
	int status = resolve_targets(client, &query, &one);

	if (status == 0)
		status = resolve_add(all, &one.matches[0]);
	resolve_finish(&one);
	return status;
}

static int record(struct client *client, const struct request *request, const struct resolve_result *none)
{
	struct recording recording = {.classes = request->given & OPTION_CLASSES};
	struct resolve_result targets = {0};
	int status = 0, end;

	(void)none; /* several words are resolved here */
	if (request->target)
		status = add_targets(client, request->target, &targets);
	for (size_t i = 0; status == 0 && i < request->word_count; i++)
		status = add_targets(client, request->words[i], &targets);
	if (status == 0)
		status = record_file_open(&recording.file, request->output, request->given & OPTION_FORCE);
	if (status == 0) {
		status = record_into(client, request, &targets, &recording);
		say_sum(&recording);
		end = record_file_close(&recording.file);
		status = status ? status : end;
	}
	resolve_finish(&targets);
	return status;
}

static int run(const struct request *request)
{
	if (!request->output || !*request->output) {
		output_say("name the file to write: record -o FILE");
		fputs("Try 'qactl record --help'.\n", stderr);
		return EX_USAGE;
	}
	if ((request->given & OPTION_CLASSES) && !request->target) {
		output_say("--classes: only of named targets");
		return EX_USAGE;
	}
	/* A file larger than ulimit -f is an error of write(2), told like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	return with_qad(request, NULL, record);
}

const struct command command_record = {
	.name = "record",
	.operand = "TARGET",
	.rest = "...",
	.rest_words = 63, /* with the first as many as qad takes of one client */
	.summary = "write figures to a file, to look at them later",
	.description = "Writes what 'watch' shows into a file of JSON lines, each as it comes; 'replay' and\n"
		       "'plot --file' show it. Without TARGET all targets are recorded. Ends when the last\n"
		       "TARGET has, after --duration or --count, or by Ctrl-C, and says how much it wrote.\n"
		       "-o FILE is required; a file that exists is written over only with --force.\n",
	.options = OPTION_OUTPUT | OPTION_INTERVAL | OPTION_COUNT | OPTION_DURATION | OPTION_CLASSES | OPTION_FORCE,
	.is_target_optional = true,
	.run = run,
};
