/*
 * ps: all targets that the client may see. With figures, all of them are asked at once and waited for together; as the
 * deadlines start at the same moment, they end at the same moment. Silent targets are not waited for. The answer is
 * made from the registry as it is then, with the newest figures of each. What /proc tells of a target is read when it
 * answers, while others are still at it: at the end, all who wait would wait for that too.
 */
#include <errno.h>

#include "describe.h"
#include "methods.h"
#include "protocol.h"
#include "write.h"

struct ps_call;

struct ps_waiter {
	struct waiter waiter;
	struct ps_call *ps;
};

struct ps_call {
	struct call call;
	uint64_t began_ms;
	size_t unanswered;
	size_t waiter_count;
	struct ps_waiter waiters[];
};

static bool is_visible(const struct client *client, const struct target *target)
{
	return !target->peer->closing && access_may_see(&client->rights, target->peer->who.uid);
}

/*
 * False: its process ended, while a child still holds its connection. It leaves here: its pid may belong to somebody
 * else soon.
 */
static bool take_sample(struct target *target, uint64_t now_ms)
{
	target->sample = (struct process_sample){0};
	target->sampled_ms = now_ms;
	if (process_sample(&target->process, &target->sample) != -ESRCH)
		return true;
	peer_end(target->peer, "its process ended");
	return false;
}

/* How many targets are visible. Those that were not sampled since began_ms are now. */
static size_t sample_visible(struct client *client, uint64_t began_ms)
{
	const struct registry *registry = &client->service->registry;
	size_t count = 0;

	for (size_t i = 0; i < registry->count; i++) {
		struct target *target = registry->targets[i];

		if (is_visible(client, target))
			count += target->sampled_ms >= began_ms || take_sample(target, uv_now(client->service->loop));
	}
	return count;
}

static void write_target(struct qp_buffer *out, const struct target *target, bool with_figures, uint64_t began_ms,
			 uint64_t now_ms)
{
	bool has_figures = with_figures && target->last.is_known;

	qp_write_map(out, DESCRIBE_TARGET_PAIRS + (has_figures ? DESCRIBE_TOTALS_PAIRS : 0));
	describe_target(out, target, &target->sample);
	if (has_figures) {
		/* What came after the request is fresh, however long others were waited for. */
		bool is_fresh = target->last.at_ms >= began_ms && !target->is_silent;
		describe_totals(out, &target->last.totals, is_fresh ? 0 : now_ms - target->last.at_ms);
	}
}

static void send_result(struct client *client, uint32_t id, bool with_figures, uint64_t began_ms)
{
	struct service *service = client->service;
	size_t count = sample_visible(client, began_ms);

	if (count > QP_ARRAY_ELEMENTS) {
		service_send_error(client, id, "failed", "there are more targets than an answer can hold (4096)");
		return;
	}

	struct qp_buffer *out = service_begin_frame(service);
	qp_write_result(out, id);
	qp_write_map(out, 1);
	qp_write_string(out, "targets");
	qp_write_array(out, (uint32_t)count);
	for (size_t i = 0; i < service->registry.count; i++) {
		const struct target *target = service->registry.targets[i];

		if (is_visible(client, target))
			write_target(out, target, with_figures, began_ms, uv_now(service->loop));
	}
	service_send_frame(client, id);
}

static void cancel(struct call *call)
{
	struct ps_call *ps = (struct ps_call *)call;

	for (size_t i = 0; i < ps->waiter_count; i++)
		question_forget(&call->client->service->questions, &ps->waiters[i].waiter);
}

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct ps_call *ps = LIST_OWNER(waiter, struct ps_waiter, waiter)->ps;
	uint64_t now_ms = uv_now(ps->call.client->service->loop);

	/* The figures are in target->last by now, whoever asked for them. One sample is for all who wait for this
	 * answer. */
	if (answer->outcome == ANSWER_OK && !waiter->target->peer->closing && waiter->target->sampled_ms != now_ms)
		take_sample(waiter->target, now_ms);
	if (--ps->unanswered > 0)
		return;
	send_result(ps->call.client, ps->call.id, true, ps->began_ms);
	call_finish(&ps->call);
}

static bool is_asked(const struct client *client, const struct target *target)
{
	return is_visible(client, target) && !target->is_silent;
}

/* Asks every target that is not silent; count is how many those are. */
static void ask_all(struct client *client, uint32_t id, size_t count)
{
	struct service *service = client->service;
	struct ps_call *ps = call_create(client, id, sizeof(*ps) + count * sizeof(ps->waiters[0]), cancel);

	if (ps == NULL)
		return;
	ps->began_ms = uv_now(service->loop);
	ps->unanswered = count;
	for (size_t i = 0; i < service->registry.count && ps->waiter_count < count; i++) {
		struct target *target = service->registry.targets[i];
		struct ps_waiter *waiter = &ps->waiters[ps->waiter_count];

		/* A send that failed makes its own target invisible, no other. */
		if (!is_asked(client, target))
			continue;
		ps->waiter_count++;
		waiter->ps = ps;
		waiter->waiter.on_answer = on_answer;
		question_ask(&service->questions, target, QUESTION_TOTALS, &waiter->waiter);
	}
}

void method_ps(struct client *client, uint32_t id, struct qp_reader *params)
{
	const struct registry *registry = &client->service->registry;
	bool figures = qp_read_bool_or(params, "figures", true);
	size_t asked = 0;

	if (method_refuse_bad(client, id, params))
		return;
	for (size_t i = 0; figures && i < registry->count; i++)
		asked += is_asked(client, registry->targets[i]);
	if (asked == 0)
		send_result(client, id, figures, uv_now(client->service->loop));
	else
		ask_all(client, id, asked);
}
