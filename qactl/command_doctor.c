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
#include "size.h"
#include "stats_read.h"
#include "with_qad.h"
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
	int status;

	qp_write_map(out, 2);
	qp_write_key_u64(out, "pid", match->pid);
	qp_write_key_u64(out, "from_s", 0);
	status = with_qad_ask(client, id, match->who, &message);
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
	int status;

	qp_write_map(out, 1);
	qp_write_key_u64(out, "pid", match->pid);
	status = with_qad_ask(client, id, match->who, &message);
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

static int show(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	int status = show_figures(client, &targets->matches[0]);

	(void)request;
	return status ? status : show_last_trim(client, &targets->matches[0]);
}

static int run(const struct request *request)
{
	struct resolve_query query = {.operand = request->target, .advice = "name one by its pid"};

	return with_qad(request, &query, show);
}

const struct command command_doctor = {
	.name = "doctor",
	.operand = "TARGET",
	.summary = "say what one program caches, why, and what to do",
	.description = "Says in sentences what a target caches and why, what a trim would return, what pins\n"
		       "the rest, and what can be set. TARGET is a pid, a command name or a QA_NAME.\n",
	.run = run,
};
