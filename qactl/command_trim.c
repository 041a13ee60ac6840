/*
 * trim: one target, or several at once. With several a few requests are always on the way, so that a stopped target
 * does not hold up the others; responses come in any order and find their target by the request's id, which counts up
 * from the first. One that fails is told on stderr, the rest goes on, and the highest exit status is the command's.
 */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "answer.h"
#include "client.h"
#include "json.h"
#include "output.h"
#include "protocol.h"
#include "trim_table.h"
#include "with_qad.h"
#include "write.h"

/* Fewer than qad takes of one client, and not so many that a host trims everything at once. */
enum { ON_THE_WAY = 16 };

enum { TELL_AFTER_MS = 2000 };

struct round {
	struct client *client;
	const struct request *request;
	const struct resolve_result *targets;
	struct trim *trims; /* of the same index; is_done: it worked */
	bool *is_answered;
	int64_t *deadlines_ms;
	uint32_t first_id;
	size_t asked;     /* those with a lower index have been */
	size_t oldest;    /* those with a lower index have been answered */
	size_t open;      /* asked and not answered */
	bool has_told;    /* that it takes long */
	bool is_everyone; /* nobody was named, so those that one may not trim are not meant */
	size_t forbidden; /* of those */
	int status;
};

static void raise_status(struct round *round, int status)
{
	if (status > round->status)
		round->status = status;
}

static void write_params(struct qp_buffer *out, const struct request *request, uint64_t pid)
{
	unsigned parts = request->given & (OPTION_CLASS | OPTION_POOL | OPTION_KEEP);

	qp_write_map(out, 1 + (uint32_t)__builtin_popcount(parts));
	qp_write_key_u64(out, "pid", pid);
	if (parts & OPTION_CLASS)
		qp_write_key_u64(out, "block_size", request->block_size);
	if (parts & OPTION_POOL)
		qp_write_key_string(out, "pool", request->pool);
	if (parts & OPTION_KEEP)
		qp_write_key_u64(out, "keep_bytes", request->keep_bytes);
}

static void ask_next(struct round *round)
{
	size_t index = round->asked++;
	struct qp_buffer *out;
	uint32_t id;

	out = client_begin(round->client, "trim", &id);
	write_params(out, round->request, round->targets->matches[index].pid);
	if (index == 0)
		round->first_id = id;
	round->deadlines_ms[index] = client_clock_ms() + round->client->trim_ms;
	round->open++;
}

static bool is_forbidden(const struct qp_message *message)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	char code[32];

	qp_read_string_or(&reader, "code", code, sizeof(code), "");
	return message->has_error && strcmp(code, "not_allowed") == 0;
}

static void take_answer(struct round *round, const struct qp_message *message, size_t index)
{
	struct qp_reader reader;
	int status;

	round->is_answered[index] = true;
	round->open--;
	while (round->oldest < round->asked && round->is_answered[round->oldest])
		round->oldest++;
	if (round->is_everyone && is_forbidden(message)) {
		round->forbidden++;
		return;
	}
	status = answer_check(message, round->targets->matches[index].who);
	if (status == 0) {
		reader = qp_reader_of(&message->body);
		trim_read(&reader, &round->trims[index]);
		if (reader.bad)
			status = answer_fail(&reader);
	}
	raise_status(round, status);
}

/*
 * As client_receive, and tells somebody who sits in front of it why nothing happens. A stopped target is waited for
 * until qad's deadline.
 */
static int receive(struct round *round, const struct qp_message **message)
{
	int64_t deadline_ms = round->deadlines_ms[round->oldest], soon_ms = client_clock_ms() + TELL_AFTER_MS;
	int error;

	if (round->has_told || soon_ms >= deadline_ms || !isatty(STDERR_FILENO))
		return client_receive(round->client, deadline_ms, message);
	error = client_receive(round->client, soon_ms, message);
	if (error != -ETIMEDOUT)
		return error;
	round->has_told = true;
	output_say("still waiting for %s; a target that is stopped (state T in ps) has %d s to trim",
		   round->targets->matches[round->oldest].who, round->client->trim_ms / 1000 - 1);
	return client_receive(round->client, deadline_ms, message);
}

/* Asks all and takes the answers. An error of the connection ends it; what came before is kept. */
static void trim_all(struct round *round)
{
	while (round->asked < round->targets->count || round->open > 0) {
		const struct qp_message *message;
		uint32_t index;
		int error;

		while (round->open < ON_THE_WAY && round->asked < round->targets->count)
			ask_next(round);
		error = receive(round, &message);
		if (error == 0) {
			index = message->id - round->first_id;
			if (index < round->asked && !round->is_answered[index]) {
				take_answer(round, message, index);
				continue;
			}
			round->client->detail = "it answers what was not asked";
			error = -EPROTO;
		}
		round->client->waited_ms = round->client->trim_ms;
		raise_status(round, client_fail(round->client, error));
		return;
	}
}

/* Moves the trims that worked to the front. Returns how many they are. */
static size_t keep_done(struct trim *trims, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (trims[i].is_done)
			trims[kept++] = trims[i];
	return kept;
}

static int print(const struct request *request, struct trim *trims, size_t count)
{
	bool is_list = request->given & OPTION_ALL;

	if (request->given & OPTION_JSON) {
		json_t *array;

		if (!is_list)
			return count ? json_print(trim_to_json(&trims[0])) : 0;
		array = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(array, trim_to_json(&trims[i]));
		return json_print(array);
	}
	if (count == 1)
		trim_print(stdout, &trims[0]);
	else if (count > 1)
		trim_print_table(stdout, trims, count);
	return 0;
}

static void say_rest(struct round *round, size_t done)
{
	if (round->forbidden) {
		output_say("%zu more target%s may be looked at but not trimmed by you", round->forbidden,
			   round->forbidden == 1 ? "" : "s");
		if (done == 0)
			raise_status(round, EX_NOPERM);
	} else if (round->targets->count == 0) {
		char path[CLIENT_PATH_TEXT_BYTES];

		output_say("no targets at %s; nothing to trim", client_path_text(round->client, path));
	}
}

static int trim(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	struct round round = {
		.client = client, .request = request, .targets = targets, .is_everyone = !request->target};
	size_t done;

	/* One more for the row of totals; calloc(0) may be NULL. */
	round.trims = calloc(targets->count + 1, sizeof(*round.trims));
	round.is_answered = calloc(targets->count + 1, sizeof(*round.is_answered));
	round.deadlines_ms = calloc(targets->count + 1, sizeof(*round.deadlines_ms));
	if (round.trims && round.is_answered && round.deadlines_ms) {
		trim_all(&round);
		done = keep_done(round.trims, targets->count);
		raise_status(&round, print(request, round.trims, done));
		say_rest(&round, done);
	} else {
		round.status = output_no_memory();
	}
	free(round.trims);
	free(round.is_answered);
	free(round.deadlines_ms);
	return round.status;
}

static int run(const struct request *request)
{
	struct resolve_query query = {
		.operand = request->target,
		.is_all = request->given & OPTION_ALL,
		.advice = "name one by its pid, or trim them all with --all",
	};

	if ((request->given & OPTION_CLASS) && (request->given & OPTION_POOL)) {
		output_say("--class and --pool: a trim is of one of them, or of all");
		return EX_USAGE;
	}
	return with_qad(request, &query, trim);
}

const struct command command_trim = {
	.name = "trim",
	.operand = "TARGET",
	.summary = "make a program give its cached memory back to the system",
	.description = "Makes a target take back what its threads cache, and return every empty page and\n"
		       "each 4 KiB of other pages that no used block touches. Safe at any time: the\n"
		       "program runs on meanwhile. A stopped one is waited for, 30 s at most, and trims\n"
		       "when it continues. TARGET is a pid, a command name or a QA_NAME;\n"
		       "a number is always a pid. With --all every target that TARGET means is trimmed,\n"
		       "and without TARGET every target that you may trim.\n"
		       "\n"
		       "  held, cached  before and after, of libqa\n"
		       "  rss           resident memory of the whole process\n",
	.options = OPTION_JSON | OPTION_ALL | OPTION_CLASS | OPTION_POOL | OPTION_KEEP,
	.target_optional_with = OPTION_ALL,
	.run = run,
};
