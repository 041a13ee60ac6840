/*
 * watch: a line for each target, again and again, as qad's notifications come. It ends by itself after --count times,
 * when the one target that it watches ends, or by a signal.
 */
#include <inttypes.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "answer.h"
#include "client.h"
#include "command.h"
#include "json.h"
#include "output.h"
#include "size.h"
#include "with_qad.h"
#include "write.h"

enum { TITLE_EVERY = 20, DEFAULT_INTERVAL_MS = 1000 };

struct watched {
	const struct request *request;
	uint64_t watch;
	uint64_t rounds;
	uint64_t lines;
};

static void print_title(void)
{
	printf("%-8s %8s %10s %10s %10s %10s  %s\n", "TIME", "PID", "HELD", "USED", "CACHED", "RSS", "COMMAND");
}

static void print_line(struct watched *watched, const struct target *target, const char *clock)
{
	char held[SIZE_TEXT] = "-", used[SIZE_TEXT] = "-", cached[SIZE_TEXT] = "-", rss[SIZE_TEXT];
	char label[TARGET_LABEL_BYTES];

	if (target->has_figures) {
		size_format(target->totals.held_bytes, held, sizeof(held));
		size_format(target->totals.used_bytes, used, sizeof(used));
		size_format(target->totals.cached_bytes, cached, sizeof(cached));
	}
	size_format(target->rss_bytes, rss, sizeof(rss));
	target_label(target->command, target->name, label, sizeof(label));
	if (watched->lines++ % TITLE_EVERY == 0)
		print_title();
	printf("%-8s %8" PRIu64 " %10s %10s %10s %10s  %s%s\n", clock, target->pid, held, used, cached, rss, label,
	       target->is_silent ? " (silent)" : "");
}

static int print_targets(struct watched *watched, struct qp_reader *reader)
{
	time_t now = time(NULL);
	struct tm parts;
	char clock[16] = "";
	size_t count;
	const msgpack_object *rows = qp_read_array(reader, "targets", &count);

	if (reader->bad)
		return answer_fail(reader);
	if (localtime_r(&now, &parts))
		strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
	for (size_t i = 0; i < count; i++) {
		struct qp_reader row = qp_reader_of(&rows[i]);
		struct target target;
		int status = 0;

		target_read(&row, &target);
		if (row.bad)
			status = answer_fail(&row);
		else if (watched->request->given & OPTION_JSON) {
			json_t *object = json_from_target(&target);
			json_object_set_new(object, "time_s", json_from_u64((uint64_t)now));
			status = json_print_line(object);
		} else
			print_line(watched, &target, clock);
		target_finish(&target);
		if (status != 0)
			return status;
	}
	fflush(stdout);
	return ferror(stdout) ? EX_IOERR : 0;
}

/* The exit status; -1: go on. */
static int take_notification(struct watched *watched, const struct qp_message *message, const char *who)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	int status;

	if (strcmp(message->method, "unwatched") == 0) {
		output_say("%s: ended", who ? who : "the watch");
		return EX_NOUSER;
	}
	if (strcmp(message->method, "figures") != 0 || qp_read_u64(&reader, "watch") != watched->watch)
		return -1;
	status = print_targets(watched, &reader);
	if (status != 0)
		return status;
	return ++watched->rounds == watched->request->count ? 0 : -1;
}

static int follow(struct client *client, struct watched *watched, uint64_t interval_ms, const char *who)
{
	int status = -1;

	client->takes_notifications = true;
	while (status == -1) {
		const struct qp_message *message;
		/* A round may wait for a target that does not answer. */
		int timeout_ms = (int)(interval_ms + interval_ms / 2) + 2 * CLIENT_STATS_MS;
		int error;

		client->waited_ms = timeout_ms;
		error = client_receive(client, client_clock_ms() + timeout_ms, &message);
		if (error < 0)
			return client_fail(client, error);
		if (message->kind == QP_NOTIFICATION)
			status = take_notification(watched, message, who);
	}
	return status;
}

static int begin(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	const struct resolve_match *match = targets->count > 0 ? &targets->matches[0] : NULL;
	const struct qp_message *message;
	struct watched watched = {.request = request};
	uint64_t interval_ms = request->given & OPTION_INTERVAL ? request->interval_ms : DEFAULT_INTERVAL_MS;
	uint32_t id;
	struct qp_buffer *out = client_begin(client, "watch", &id);
	int status;

	qp_write_map(out, match ? 2 : 1);
	qp_write_key_u64(out, "interval_ms", interval_ms);
	if (match)
		qp_write_key_u64(out, "pid", match->pid);
	status = with_qad_ask(client, id, match ? match->who : NULL, &message);
	if (status != 0)
		return status;
	struct qp_reader reader = qp_reader_of(&message->body);
	watched.watch = qp_read_u64(&reader, "watch");
	if (reader.bad)
		return answer_fail(&reader);
	return follow(client, &watched, interval_ms, match ? match->who : NULL);
}

static int run(const struct request *request)
{
	struct resolve_query query = {.operand = request->target, .advice = "name one by its pid, or watch all"};

	return with_qad(request, request->target ? &query : NULL, begin);
}

const struct command command_watch = {
	.name = "watch",
	.operand = "TARGET",
	.summary = "show figures again and again",
	.description = "Prints a line for each target once a second, or as often as --interval says.\n"
		       "TARGET is a pid, a command name or a QA_NAME; without it all targets are shown.\n"
		       "With --json each line is a JSON object. Ends with TARGET, or after --count times.\n",
	.options = OPTION_JSON | OPTION_INTERVAL | OPTION_COUNT,
	.is_target_optional = true,
	.run = run,
};
