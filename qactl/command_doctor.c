/*
 * doctor: asks for the figures of one target and for its last trims, and says what they mean.
 */
#include <inttypes.h>
#include <string.h>
#include <sysexits.h>

#include "answer.h"
#include "client.h"
#include "command.h"
#include "diagnosis.h"
#include "resolve.h"
#include "size.h"
#include "stats_read.h"
#include "write.h"

static int print_trim(const msgpack_object *object)
{
	struct qp_reader reader = qp_reader_of(object);
	uint64_t age_ms = qp_read_u64(&reader, "age_ms"), uid = qp_read_u64(&reader, "uid");
	uint64_t returned_bytes = qp_read_u64(&reader, "returned_bytes");
	char age[SIZE_TEXT], returned[SIZE_TEXT];

	if (reader.bad)
		return answer_fail(&reader);
	size_format_age(age_ms, age, sizeof(age));
	size_format(returned_bytes, returned, sizeof(returned));
	printf("The last trim was %s ago, for uid %" PRIu64 ", and returned %s.\n", age, uid, returned);
	return 0;
}

static int show_last_trim(struct client *client, const struct resolve_match *match)
{
	const struct qp_message *message;
	uint32_t id;
	struct qp_buffer *out = client_begin(client, "history", &id);
	int error, status;

	qp_write_map(out, 2);
	qp_write_key_u64(out, "pid", match->pid);
	qp_write_key_u64(out, "from_s", 0);
	error = client_ask(client, id, CLIENT_STATS_MS, &message);
	if (error < 0)
		return client_fail(client, error);
	status = answer_check(message, match->who);
	if (status != 0)
		return status;
	struct qp_reader reader = qp_reader_of(&message->body);
	size_t count;
	const msgpack_object *trims = qp_read_array(&reader, "trims", &count);
	if (reader.bad)
		return answer_fail(&reader);
	return count > 0 ? print_trim(&trims[count - 1]) : 0;
}

static int show_figures(struct client *client, const struct resolve_match *match)
{
	const struct qp_message *message;
	struct stats stats = {.row_count = 0};
	uint32_t id;
	struct qp_buffer *out = client_begin(client, "stats", &id);
	int error, status;

	qp_write_map(out, 1);
	qp_write_key_u64(out, "pid", match->pid);
	error = client_ask(client, id, CLIENT_STATS_MS, &message);
	if (error < 0)
		return client_fail(client, error);
	status = answer_check(message, match->who);
	if (status != 0)
		return status;
	status = stats_read(&message->body, &stats);
	if (status == 0) {
		char label[TARGET_LABEL_BYTES], uptime[SIZE_TEXT];

		target_label(stats.target.command, stats.target.name, label, sizeof(label));
		size_format_uptime(stats.target.uptime_s, uptime, sizeof(uptime));
		printf("%s, pid %" PRIu64 " of %s, has run for %s.\n", label, stats.target.pid, stats.target.user,
		       uptime);
		diagnosis_print(stdout, &stats);
	}
	stats_finish(&stats);
	return status;
}

static int run(const struct request *request)
{
	struct resolve_query query = {.operand = request->target, .advice = "name one by its pid"};
	struct resolve_result result = {0};
	struct client client;
	int error, status;

	client_init(&client);
	error = client_open(&client, request->socket);
	status = error < 0 ? client_fail(&client, error) : resolve_targets(&client, &query, &result);
	if (status == 0)
		status = show_figures(&client, &result.matches[0]);
	if (status == 0)
		status = show_last_trim(&client, &result.matches[0]);
	resolve_finish(&result);
	client_finish(&client);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.operand = "TARGET",
	.summary = "say what one program caches, why, and what to do",
	.description = "Says in sentences what a target caches and why, what a trim would return, what pins\n"
		       "the rest, and what can be set. TARGET is a pid, a command name or a QA_NAME.\n",
	.run = run,
};
