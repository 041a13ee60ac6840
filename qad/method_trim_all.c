/*
 * trim with all: every target that the client may trim, a few at a time, so that a host does not trim everything at
 * once. Targets are remembered by their pids until it is their turn; who went meanwhile is told as gone. Silent ones
 * are told as such, and not waited for.
 */
#include <string.h>

#include "methods.h"
#include "protocol.h"
#include "write.h"

enum { AT_ONCE = 16 };

struct trim_one {
	struct waiter waiter;
	struct trim_all *all;
	pid_t pid;
	bool is_waiting;
	enum answer_outcome outcome;
	char command[QP_NAME_BYTES + 1], name[QP_NAME_BYTES + 1];
	struct qp_trim trim;
	uint64_t rss_before_bytes, rss_after_bytes;
};

struct trim_all {
	struct call call;
	struct trim_order order;
	size_t not_allowed;
	size_t count, asked, unanswered;
	struct trim_one targets[];
};

static void cancel(struct call *call)
{
	struct trim_all *all = (struct trim_all *)call;

	for (size_t i = 0; i < all->asked; i++)
		if (all->targets[i].is_waiting)
			question_forget(&call->client->service->questions, &all->targets[i].waiter);
}

static void write_one(struct qp_buffer *out, const struct trim_one *one)
{
	bool is_done = one->outcome == ANSWER_OK;
	char message[METHOD_MESSAGE_BYTES];

	qp_write_map(out, 3 + (is_done ? QP_TRIM_PAIRS + 2 : 1));
	qp_write_key_u64(out, "pid", (uint64_t)one->pid);
	qp_write_key_string(out, "command", one->command);
	qp_write_key_string(out, "name", one->name);
	if (is_done) {
		qp_write_trim(out, &one->trim);
		qp_write_key_u64(out, "rss_before_bytes", one->rss_before_bytes);
		qp_write_key_u64(out, "rss_after_bytes", one->rss_after_bytes);
		return;
	}
	const char *code = method_outcome(one->outcome, one->command, one->pid, message);
	qp_write_string(out, "error");
	qp_write_map(out, 2);
	qp_write_key_string(out, "code", code);
	qp_write_key_string(out, "message", message);
}

static void send_result(struct trim_all *all)
{
	struct client *client = all->call.client;
	struct qp_buffer *out = service_begin_frame(client->service);
	uint64_t returned_bytes = 0;

	for (size_t i = 0; i < all->count; i++)
		returned_bytes += all->targets[i].trim.returned_bytes;
	qp_write_result(out, all->call.id);
	qp_write_map(out, 3);
	qp_write_key_u64(out, "returned_bytes", returned_bytes);
	qp_write_key_u64(out, "not_allowed", all->not_allowed);
	qp_write_string(out, "targets");
	qp_write_array(out, (uint32_t)all->count);
	for (size_t i = 0; i < all->count; i++)
		write_one(out, &all->targets[i]);
	service_send_frame(client, all->call.id);
}

static void ask_more(struct trim_all *all);

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct trim_one *one = LIST_OWNER(waiter, struct trim_one, waiter);
	struct trim_all *all = one->all;

	one->is_waiting = false;
	one->outcome = answer->outcome;
	if (answer->outcome == ANSWER_OK) {
		one->trim = *answer->trim;
		one->rss_before_bytes = answer->rss_before_bytes;
		one->rss_after_bytes = answer->rss_after_bytes;
	}
	all->unanswered--;
	ask_more(all);
}

/* Asks the next ones. When none is left, answers, and the call is no more. */
static void ask_more(struct trim_all *all)
{
	struct service *service = all->call.client->service;

	while (all->unanswered < AT_ONCE && all->asked < all->count) {
		struct trim_one *one = &all->targets[all->asked++];
		struct target *target = registry_find(&service->registry, one->pid);

		if (target == NULL || target->peer->closing ||
		    !access_may_trim(&all->call.client->rights, target->peer->who.uid)) {
			one->outcome = ANSWER_GONE;
		} else if (target->is_silent) {
			one->outcome = ANSWER_TIMEOUT;
		} else {
			one->is_waiting = true;
			one->waiter.order = &all->order;
			one->waiter.on_answer = on_answer;
			all->unanswered++;
			question_ask(&service->questions, target, QUESTION_TRIM, &one->waiter);
		}
	}
	if (all->unanswered > 0)
		return;
	send_result(all);
	call_finish(&all->call);
}

static bool is_meant(const struct client *client, const struct target *target)
{
	return !target->peer->closing && access_may_trim(&client->rights, target->peer->who.uid);
}

/* Notes whom to ask; count is how many those are. */
static void note_targets(struct trim_all *all, size_t count)
{
	const struct client *client = all->call.client;
	const struct registry *registry = &client->service->registry;

	for (size_t i = 0; i < registry->count && all->count < count; i++) {
		const struct target *target = registry->targets[i];
		struct trim_one *one = &all->targets[all->count];

		if (!is_meant(client, target))
			continue;
		all->count++;
		one->all = all;
		one->pid = target->peer->who.pid;
		memcpy(one->command, target->process.command, sizeof(one->command));
		memcpy(one->name, target->name, sizeof(one->name));
	}
}

void method_trim_all(struct client *client, uint32_t id, const struct trim_order *order)
{
	const struct registry *registry = &client->service->registry;
	size_t count = 0, not_allowed = 0;
	struct trim_all *all;

	for (size_t i = 0; i < registry->count; i++) {
		const struct target *target = registry->targets[i];

		if (is_meant(client, target))
			count++;
		else
			not_allowed += !target->peer->closing && access_may_see(&client->rights, target->peer->who.uid);
	}
	if (count > QP_ARRAY_ELEMENTS) {
		service_send_error(client, id, "failed", "there are more targets than an answer can hold (4096)");
		return;
	}
	all = call_create(client, id, sizeof(*all) + count * sizeof(all->targets[0]), cancel);
	if (all == NULL)
		return;
	all->order = *order;
	all->not_allowed = not_allowed;
	note_targets(all, count);
	ask_more(all);
}
