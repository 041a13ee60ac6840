/*
 * trim: makes one target, or all of them (method_trim_all.c), give back what they cache. Resident memory before and
 * after is read by qad.
 */
#include <stdio.h>
#include <string.h>

#include "describe.h"
#include "methods.h"
#include "write.h"

struct trim_call {
	struct call call;
	struct waiter waiter;
	struct trim_order order;
};

static void cancel(struct call *call)
{
	question_forget(&call->client->service->questions, &((struct trim_call *)call)->waiter);
}

static void send_result(struct client *client, uint32_t id, const struct target *target, const struct answer *answer)
{
	struct qp_buffer *out = service_begin_frame(client->service);

	qp_write_result(out, id);
	describe_trim(out, target, answer);
	service_send_frame(client, id);
}

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct trim_call *trim = LIST_OWNER(waiter, struct trim_call, waiter);
	struct client *client = trim->call.client;

	if (answer->outcome == ANSWER_OK)
		send_result(client, trim->call.id, waiter->target, answer);
	else
		method_send_outcome(client, trim->call.id, waiter->target, answer->outcome);
	call_finish(&trim->call);
}

static void trim_one(struct client *client, uint32_t id, uint64_t pid, const struct trim_order *order)
{
	struct target *target = method_find_target(client, id, pid);
	struct trim_call *trim;

	if (target == NULL)
		return;
	if (!access_may_trim(&client->rights, target->peer->who.uid)) {
		char message[128];

		snprintf(message, sizeof(message), "only its own user, root and the admin group may trim pid %d",
			 (int)target->peer->who.pid);
		service_send_error(client, id, "not_allowed", message);
		return;
	}
	trim = call_create(client, id, sizeof(*trim), cancel);
	if (trim == NULL)
		return;
	trim->order = *order;
	trim->waiter.order = &trim->order;
	trim->waiter.on_answer = on_answer;
	question_ask(&client->service->questions, target, QUESTION_TRIM, &trim->waiter);
}

static void read_order(const struct client *client, struct qp_reader *params, struct trim_order *order)
{
	*order = (struct trim_order){.uid = client->peer->who.uid, .pid = client->peer->who.pid};
	order->block_size = qp_read_u64_or(params, "block_size", 0);
	order->keep_bytes = qp_read_u64_or(params, "keep_bytes", 0);
	qp_read_string_or(params, "pool", order->pool, sizeof(order->pool), "");
}

/* A name that is empty, too long or has a NUL must not become all pools, or another one. */
static bool is_pool_whole(struct qp_reader *params, const struct trim_order *order)
{
	const msgpack_object *pool = qp_read_value(params, "pool");

	return pool == NULL || (pool->via.str.size > 0 && strlen(order->pool) == pool->via.str.size);
}

void method_trim(struct client *client, uint32_t id, struct qp_reader *params)
{
	bool is_all = qp_read_bool_or(params, "all", false);
	uint64_t pid = is_all ? qp_read_u64_or(params, "pid", 0) : qp_read_u64(params, "pid");
	struct trim_order order;

	read_order(client, params, &order);
	if (method_refuse_bad(client, id, params))
		return;
	if (!is_pool_whole(params, &order))
		service_send_error(client, id, "bad_request", "\"pool\" is a name of 1 to 64 bytes, none of them 0");
	else if (is_all && pid != 0)
		service_send_error(client, id, "bad_request", "a trim is of one \"pid\" or of \"all\", not of both");
	else if (order.block_size != 0 && order.pool[0] != '\0')
		service_send_error(client, id, "bad_request",
				   "a trim is of one \"block_size\" or of one \"pool\", not of both");
	else if (is_all)
		method_trim_all(client, id, &order);
	else
		trim_one(client, id, pid, &order);
}
