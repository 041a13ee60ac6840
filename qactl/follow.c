/*
 * All watches are asked for at once, and their answers come among the first notifications. A watch that is refused ends
 * it all: who named a target wants it.
 */
#include "follow.h"

#include <errno.h>
#include <string.h>
#include <sysexits.h>

#include "answer.h"
#include "output.h"
#include "stop.h"
#include "text.h"
#include "write.h"

enum { DEFAULT_INTERVAL_MS = 1000 };

struct following {
	const struct follow *follow;
	struct client *client;
	uint64_t interval_ms, rounds;
	uint32_t first_id;
	size_t open; /* watches that are not over */
	int64_t end_ms;
};

static void ask(struct following *following, const struct resolve_match *match)
{
	uint32_t id;
	struct qp_buffer *out = client_begin(following->client, "watch", &id);

	if (following->open++ == 0)
		following->first_id = id;
	qp_write_map(out, match ? 3 : 1);
	qp_write_key_u64(out, "interval_ms", following->interval_ms);
	if (!match)
		return;
	qp_write_key_u64(out, "pid", match->pid);
	qp_write_key_bool(out, "classes", following->follow->classes);
}

static const struct resolve_match *match_of_pid(const struct resolve_result *targets, uint64_t pid)
{
	for (size_t i = 0; targets && i < targets->count; i++)
		if (targets->matches[i].pid == pid)
			return &targets->matches[i];
	return NULL;
}

/* What is asked is right but for its interval: the shortest is a limit of qad's. */
static bool is_refused_interval(const struct qp_message *message, char *text, size_t text_bytes)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	char code[32], raw[256];

	qp_read_string_or(&reader, "code", code, sizeof(code), "");
	qp_read_string_or(&reader, "message", raw, sizeof(raw), "");
	text_escape(text, text_bytes, raw);
	return message->has_error && strcmp(code, "bad_request") == 0;
}

static int take_response(struct following *following, const struct qp_message *message)
{
	const struct resolve_result *targets = following->follow->targets;
	char text[512];

	if (is_refused_interval(message, text, sizeof(text))) {
		output_say("qad takes no interval of %g s: %s", (double)following->interval_ms / 1000, text);
		return EX_USAGE;
	}
	size_t index = message->id - following->first_id;
	int status = answer_check(message, targets && index < targets->count ? targets->matches[index].who : NULL);

	return status ? status : -1;
}

static int take_end(struct following *following, struct qp_reader *reader)
{
	const struct resolve_match *match =
		match_of_pid(following->follow->targets, qp_read_u64_or(reader, "pid", UINT64_MAX));
	char code[32];

	qp_read_string_or(reader, "code", code, sizeof(code), "gone");
	output_say("%s: %s", match ? match->who : "the watch",
		   strcmp(code, "gone") == 0 ? "ended" : "has more figures than fit a frame, and can not be watched");
	return --following->open > 0 ? -1 : strcmp(code, "gone") == 0 ? EX_NOUSER : EX_PROTOCOL;
}

static int take_round(struct following *following, struct qp_reader *reader)
{
	const struct follow *follow = following->follow;
	struct round round = {0};
	int status = round_read(reader, round_clock_ms(), &round);

	if (status == 0)
		status = follow->take(follow->context, &round);
	round_finish(&round);
	if (status == 0 && ++following->rounds != follow->count)
		return -1;
	return status;
}

/* The exit status; -1: go on. */
static int take(struct following *following, const struct qp_message *message)
{
	struct qp_reader reader = qp_reader_of(&message->body);

	if (message->kind == QP_RESPONSE)
		return take_response(following, message);
	if (strcmp(message->method, "unwatched") == 0)
		return take_end(following, &reader);
	return strcmp(message->method, "figures") == 0 ? take_round(following, &reader) : -1;
}

/* The next message is waited for a little longer than a round may take that waits for a target that does not answer. */
static int64_t next_deadline(struct following *following)
{
	int timeout_ms = (int)(following->interval_ms + following->interval_ms / 2) + 2 * following->client->stats_ms;
	int64_t deadline_ms = client_clock_ms() + timeout_ms;

	following->client->waited_ms = timeout_ms;
	return following->end_ms && following->end_ms < deadline_ms ? following->end_ms : deadline_ms;
}

static int fail(struct following *following, int error)
{
	if (error == -ECANCELED)
		return 0;
	if (error == -EPIPE && following->follow->is_on_stdout)
		return output_reader_gone();
	if (error == -ETIMEDOUT && following->end_ms && client_clock_ms() >= following->end_ms)
		return 0;
	return client_fail(following->client, error);
}

int follow_run(struct client *client, const struct follow *follow)
{
	struct following following = {
		.follow = follow,
		.client = client,
		.interval_ms = follow->interval_ms ? follow->interval_ms : DEFAULT_INTERVAL_MS,
		.end_ms = follow->duration_ms ? client_clock_ms() + (int64_t)follow->duration_ms : 0,
	};
	int status = -1;

	client->takes_notifications = true;
	client->stops_with_output = follow->is_on_stdout;
	if (client->stop_fd < 0)
		client->stop_fd = stop_open();
	for (size_t i = 0; follow->targets && i < follow->targets->count; i++)
		ask(&following, &follow->targets->matches[i]);
	if (following.open == 0)
		ask(&following, NULL);
	while (status == -1) {
		const struct qp_message *message;
		/* While whole frames are there nothing is waited for, and so no stop seen. */
		int error = stop_wait(client->stop_fd, 0) ? -ECANCELED
							  : client_receive(client, next_deadline(&following), &message);

		status = error < 0 ? fail(&following, error) : take(&following, message);
	}
	client->takes_notifications = client->stops_with_output = false;
	return status;
}
