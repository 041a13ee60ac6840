/*
 * stats: one target in full. When it does not answer, qad's error carries its last known figures; those are shown as
 * any others, with their age above them and exit status 75. With an interval it is a watch of that target.
 */
#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "client.h"
#include "follow.h"
#include "json.h"
#include "number.h"
#include "output.h"
#include "stats_read.h"
#include "stats_table.h"
#include "stream.h"
#include "text.h"
#include "with_qad.h"
#include "write.h"

static int print_json(const struct stats *stats)
{
	json_t *object = json_from_target(&stats->target), *classes = json_array();

	for (size_t i = 0; i < stats->row_count; i++)
		json_array_append_new(classes, json_from_class(&stats->rows[i].figures));
	json_object_set_new(object, "classes", classes);
	return json_print(object);
}

static int show(const struct request *request, const msgpack_object *object)
{
	struct stats stats;
	int status;

	memset(&stats, 0, sizeof(stats));
	status = stats_read(object, &stats);
	if (status == 0 && (request->given & OPTION_JSON))
		status = print_json(&stats);
	else if (status == 0)
		stats_print(stdout, &stats);
	stats_finish(&stats);
	return status;
}

/* What is known of a target that did not answer. */
static int show_last(const struct request *request, const struct qp_message *message, const char *who)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	const msgpack_object *last = qp_read_value(&reader, "last");
	char code[32];
	int status;

	qp_read_string_or(&reader, "code", code, sizeof(code), "");
	if (!last && strcmp(code, "timeout") == 0)
		output_say("%s: no earlier figures are known", who);
	if (!last)
		return EX_TEMPFAIL;
	status = show(request, last);
	return status ? status : EX_TEMPFAIL;
}

static int ask(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	const struct resolve_match *match = &targets->matches[0];
	const struct qp_message *message = NULL;
	struct qp_buffer *out;
	uint32_t id;
	int status;

	out = client_begin(client, "stats", &id);
	qp_write_map(out, 2);
	qp_write_key_u64(out, "pid", match->pid);
	qp_write_key_bool(out, "all_classes", request->given & OPTION_ALL_CLASSES);
	status = with_qad_ask(client, id, match->who, &message);
	if (status == 0)
		return show(request, &message->body);
	return status == EX_TEMPFAIL && message ? show_last(request, message, match->who) : status;
}

static int print(void *context, const struct round *round)
{
	return stream_print(context, round);
}

static int watch(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	struct stream stream;
	struct follow follow = {
		.targets = targets,
		.classes = request->given & OPTION_CLASSES,
		.is_on_stdout = true,
		.take = print,
		.context = &stream,
	};

	/* run has looked at them. */
	number_read_interval(request->words[0], &follow.interval_ms);
	if (request->word_count > 1)
		number_read(request->words[1], &follow.count);
	stream_init(&stream, request, true);
	return follow_run(client, &follow);
}

static int fail_word(const char *what, const char *word)
{
	char text[512];

	text_escape(text, sizeof(text), word);
	output_say("%s: not a number that fits: %s", what, text);
	fputs("Try 'qactl stats --help'.\n", stderr);
	return EX_USAGE;
}

/* 0, or 64 after having said which words and options make no sense together. */
static int check(const struct request *request)
{
	bool has_interval = request->word_count > 0;
	uint64_t value;

	if (has_interval && !number_read_interval(request->words[0], &value))
		return fail_word("INTERVAL", request->words[0]);
	if (request->word_count > 1 && (!number_read(request->words[1], &value) || value == 0))
		return fail_word("COUNT", request->words[1]);
	if (has_interval && (request->given & OPTION_ALL_CLASSES))
		output_say("--all-classes: without INTERVAL only; --json --classes has those that hold something");
	else if (!has_interval && (request->given & (OPTION_CSV | OPTION_CLASSES)))
		output_say("--csv and --classes: with INTERVAL only; without it 'stats' shows the classes");
	else if ((request->given & OPTION_CLASSES) && !(request->given & OPTION_JSON))
		output_say("--classes: with --json");
	else
		return 0;
	return EX_USAGE;
}

static int run(const struct request *request)
{
	struct resolve_query query = {.operand = request->target, .advice = "name one by its pid"};
	int status = check(request);

	return status ? status : with_qad(request, &query, request->word_count > 0 ? watch : ask);
}

const struct command command_stats = {
	.name = "stats",
	.operand = "TARGET",
	.rest = " [INTERVAL [COUNT]]",
	.rest_words = 2,
	.summary = "show what one program holds, by size class",
	.description = "Shows what a target holds: in total, and for each size class that has pages; BLOCK is\n"
		       "the size of its blocks in bytes.\n"
		       "TARGET is a pid, a command name or a QA_NAME. A number is always a pid.\n"
		       "With INTERVAL, in seconds, 0.1 or more: a line as often as that, COUNT times or\n"
		       "until the target ends or Ctrl-C; ALLOC/S and FREE/S are of the time since the line\n"
		       "before. --csv and --classes are for this form only.\n"
		       "\n"
		       "held = used + cached. The parts of cached:\n"
		       "  thread   free blocks in caches of threads, and on the way between threads\n"
		       "  partial  free blocks in pages that also have used ones\n"
		       "  empty    pages without a used block\n"
		       "  slack    bytes of pages that no block covers\n",
	.options = OPTION_JSON | OPTION_ALL_CLASSES | OPTION_CSV | OPTION_CLASSES,
	.run = run,
};
