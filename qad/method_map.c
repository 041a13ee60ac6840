/*
 * map: asks one target how full its pages are, class by class. It costs the target a look at each of its pages, so it
 * is a question of its own, asked only for who wants it.
 */
#include "describe.h"
#include "methods.h"
#include "write.h"

struct map_call {
	struct call call;
	struct waiter waiter;
};

static void cancel(struct call *call)
{
	question_forget(&call->client->service->questions, &((struct map_call *)call)->waiter);
}

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct map_call *map = LIST_OWNER(waiter, struct map_call, waiter);
	struct client *client = map->call.client;
	uint32_t id = map->call.id;

	if (answer->outcome == ANSWER_OK) {
		struct qp_buffer *out = service_begin_frame(client->service);

		qp_write_result(out, id);
		describe_map(out, waiter->target, answer->map);
		service_send_frame(client, id);
	} else {
		method_send_outcome(client, id, waiter->target, answer->outcome);
	}
	call_finish(&map->call);
}

void method_map(struct client *client, uint32_t id, struct qp_reader *params)
{
	uint64_t pid = qp_read_u64(params, "pid");
	struct target *target;
	struct map_call *map;

	if (method_refuse_bad(client, id, params))
		return;
	target = method_find_target(client, id, pid);
	if (target == NULL)
		return;
	map = call_create(client, id, sizeof(*map), cancel);
	if (map == NULL)
		return;
	map->waiter.on_answer = on_answer;
	question_ask(&client->service->questions, target, QUESTION_MAP, &map->waiter);
}
