/*
 * stats: asks one target for its totals and classes.
 */
#include <stdio.h>

#include "describe.h"
#include "methods.h"
#include "write.h"

struct stats_call {
	struct call call;
	struct waiter waiter;
};

static void cancel(struct call *call)
{
	question_forget(&call->client->service->questions, &((struct stats_call *)call)->waiter);
}

/* The error timeout, with the last figures if there are any. */
static void send_timeout(struct client *client, uint32_t id, const struct target *target)
{
	struct qp_buffer *out = service_begin_frame(client->service);
	char message[QP_NAME_BYTES + 128];

	if (!target->last.is_known) {
		method_send_outcome(client, id, target, ANSWER_TIMEOUT);
		return;
	}
	snprintf(message, sizeof(message), "%s (pid %d) did not answer in time", target->process.command,
		 (int)target->peer->who.pid);
	qp_write_error_begin(out, id, "timeout", message, 1);
	qp_write_string(out, "last");
	describe_stats(out, target, &target->last, uv_now(client->service->loop) - target->last.at_ms);
	qp_write_error_end(out);
	service_send_frame(client, id);
}

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct stats_call *stats = LIST_OWNER(waiter, struct stats_call, waiter);
	struct client *client = stats->call.client;
	uint32_t id = stats->call.id;

	if (answer->outcome == ANSWER_OK) {
		struct qp_buffer *out = service_begin_frame(client->service);

		qp_write_result(out, id);
		describe_stats(out, waiter->target, answer->figures, 0);
		service_send_frame(client, id);
	} else if (answer->outcome == ANSWER_TIMEOUT) {
		send_timeout(client, id, waiter->target);
	} else {
		method_send_outcome(client, id, waiter->target, answer->outcome);
	}
	call_finish(&stats->call);
}

void method_stats(struct client *client, uint32_t id, struct qp_reader *params)
{
	uint64_t pid = qp_read_u64(params, "pid");
	bool all_classes = qp_read_bool_or(params, "all_classes", false);
	struct target *target;
	struct stats_call *stats;

	if (method_refuse_bad(client, id, params))
		return;
	target = method_find_target(client, id, pid);
	if (target == NULL)
		return;
	stats = call_create(client, id, sizeof(*stats), cancel);
	if (stats == NULL)
		return;
	stats->waiter.on_answer = on_answer;
	question_ask(&client->service->questions, target, all_classes ? QUESTION_ALL_CLASSES : QUESTION_CLASSES,
		     &stats->waiter);
}
