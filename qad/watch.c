/*
 * One timer, set for the earliest moment at which a watch is due, and none when there is no watch. Sending is left to
 * it too: an answer's rows are in the target only after all who waited for it were told.
 */
#include "watch.h"

#include <stdlib.h>

#include "service.h"
#include "total.h"
#include "watch_body.h"
#include "write.h"

#define RECORD_MS 1000u
#define ANSWER_MS 100u /* so long at least is waited for answers before the next round */

struct watch {
	struct list link;      /* in watching->all */
	struct list of_client; /* in client->watches */
	struct client *client;
	struct watch_order order;
	uint64_t start_ticks; /* of the process, when one is watched: its pid may be used again */
	uint32_t id;
	uint64_t due_ms;
	bool is_due;  /* in this round */
	bool is_owed; /* a notification was dropped, and none was sent since */
	uint64_t dropped;
};

static void on_timer(uv_timer_t *timer);

/* Most of an interval: less than that after a moment is too early for the next. */
static uint32_t most_of(uint32_t interval_ms)
{
	return interval_ms - interval_ms / 4;
}

/* The next multiple of the interval. The first moment of a watch is none: the second may come a little later for it. */
static uint64_t next_due_ms(uint64_t now_ms, uint32_t interval_ms)
{
	return ((now_ms + most_of(interval_ms) - 1) / interval_ms + 1) * interval_ms;
}

static void set_timer(struct watching *watching)
{
	uint64_t now_ms = uv_now(watching->timer.loop),
		 due_ms = watching->is_recording ? watching->record_ms : UINT64_MAX;

	for (struct list *link = watching->all.next; link != &watching->all; link = link->next) {
		const struct watch *watch = LIST_OWNER(link, struct watch, link);

		if (watch->due_ms < due_ms)
			due_ms = watch->due_ms;
	}
	if (watching->is_round_open && watching->unanswered == 0)
		due_ms = now_ms;
	else if (watching->is_round_open && due_ms < watching->began_ms + ANSWER_MS)
		due_ms = watching->began_ms + ANSWER_MS;
	if (due_ms == UINT64_MAX)
		uv_timer_stop(&watching->timer);
	else
		uv_timer_start(&watching->timer, on_timer, due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

void watching_init(struct watching *watching, struct service *service, bool is_recording)
{
	*watching = (struct watching){.service = service, .is_recording = is_recording};
	list_init(&watching->all);
	uv_timer_init(service->loop, &watching->timer);
	watching->timer.data = watching;
	qp_buffer_init(&watching->body, service->limits->frame_answer_bytes);
	if (is_recording)
		set_timer(watching);
}

void watching_close(struct watching *watching)
{
	watching->is_recording = false;
	uv_close((uv_handle_t *)&watching->timer, NULL);
}

void watching_finish(struct watching *watching)
{
	qp_buffer_finish(&watching->body);
}

static void destroy(struct watch *watch)
{
	list_remove(&watch->link);
	list_remove(&watch->of_client);
	watch->client->watch_count--;
	free(watch);
}

static bool is_watched_by(const struct watch *watch, const struct target *target)
{
	const struct identity *who = &target->peer->who;

	if (watch->order.pid != 0)
		return watch->order.pid == who->pid && watch->start_ticks == target->process.start_ticks;
	return access_may_see(&watch->client->rights, who->uid);
}

/* Questions. */

void watching_record(struct watching *watching, struct target *target, const struct qp_totals *totals)
{
	uint64_t now_ms = uv_now(watching->timer.loop);

	process_sample(&target->process, &target->sample);
	if (!history_add(&target->history, now_ms, totals, target->sample.rss_bytes))
		log_fault(watching->service->log, now_ms, "out of memory: no history of target %d",
			  (int)target->peer->who.pid);
}

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct target *target = waiter->target;
	struct watching *watching = target->watching;

	target->watch.is_asked = false;
	if (answer->outcome == ANSWER_OK)
		watching_record(watching, target, &answer->figures->totals);
	if (target->watch.round == watching->round && --watching->unanswered == 0 && watching->is_round_open)
		set_timer(watching);
}

static void ask(struct watching *watching, struct target *target, bool with_classes)
{
	target->watch.is_asked = true;
	target->watch.round = watching->round;
	target->watch.asked_ms = uv_now(watching->timer.loop);
	target->watch.had_classes = with_classes;
	target->watch.waiter.on_answer = on_answer;
	watching->unanswered++;
	question_ask(&watching->service->questions, target, with_classes ? QUESTION_CLASSES : QUESTION_TOTALS,
		     &target->watch.waiter);
}

struct wish {
	bool is_due, with_classes;
	uint32_t fastest_ms;
};

static struct wish wish_for(const struct watching *watching, const struct target *target, bool is_record_due)
{
	struct wish wish = {.is_due = is_record_due, .fastest_ms = watching->is_recording ? RECORD_MS : UINT32_MAX};

	for (struct list *link = watching->all.next; link != &watching->all; link = link->next) {
		const struct watch *watch = LIST_OWNER(link, struct watch, link);

		if (!is_watched_by(watch, target))
			continue;
		if (watch->order.interval_ms < wish.fastest_ms)
			wish.fastest_ms = watch->order.interval_ms;
		wish.is_due |= watch->is_due;
		wish.with_classes |= watch->is_due && watch->order.with_classes;
	}
	return wish;
}

/* Who was asked less than this before need not be asked again: moments of other intervals lie in between. */
static bool was_asked_lately(const struct target *target, uint64_t now_ms, const struct wish *wish)
{
	return target->watch.asked_ms != 0 && now_ms - target->watch.asked_ms < most_of(wish->fastest_ms) &&
	       !(wish->with_classes && !target->watch.had_classes);
}

static void begin_round(struct watching *watching, uint64_t now_ms)
{
	const struct registry *registry = &watching->service->registry;
	bool is_record_due = watching->is_recording && watching->record_ms <= now_ms;

	for (struct list *link = watching->all.next; link != &watching->all; link = link->next) {
		struct watch *watch = LIST_OWNER(link, struct watch, link);

		watch->is_due = watch->due_ms <= now_ms;
		if (watch->is_due)
			watch->due_ms = next_due_ms(now_ms, watch->order.interval_ms);
	}
	if (is_record_due)
		watching->record_ms = next_due_ms(now_ms, RECORD_MS);
	watching->round++;
	watching->unanswered = 0;
	watching->is_round_open = true;
	watching->began_ms = now_ms;
	for (size_t i = 0; i < registry->count; i++) {
		struct target *target = registry->targets[i];

		if (target->is_silent)
			process_sample(&target->process, &target->sample);
		if (target->peer->closing || target->is_silent || target->watch.is_asked)
			continue;
		struct wish wish = wish_for(watching, target, is_record_due);
		if (wish.is_due && !was_asked_lately(target, now_ms, &wish))
			ask(watching, target, wish.with_classes);
	}
}

/* Notifications. */

static void end_watch(struct watch *watch, const char *code, const char *message)
{
	uint8_t memory[512];
	struct qp_buffer frame;

	qp_buffer_init_fixed(&frame, memory, sizeof(memory));
	qp_write_notification(&frame, "unwatched");
	qp_write_map(&frame, 4);
	qp_write_key_u64(&frame, "watch", watch->id);
	qp_write_key_u64(&frame, "pid", (uint64_t)watch->order.pid);
	qp_write_key_string(&frame, "code", code);
	qp_write_key_string(&frame, "message", message);
	peer_send(watch->client->peer, &frame);
	destroy(watch);
}

static const struct target *watched_target(const struct watch *watch)
{
	const struct target *target = registry_find(&watch->client->service->registry, watch->order.pid);

	return target != NULL && is_watched_by(watch, target) ? target : NULL;
}

/* Builds the frame; false when there is nothing to tell, since the target is just going. */
static bool write_notification(struct watching *watching, const struct watch *watch, struct qp_buffer *out)
{
	const struct target *target = watch->order.pid != 0 ? watched_target(watch) : NULL;

	if (watch->order.pid != 0 && target == NULL)
		return false;
	qp_write_notification(out, "figures");
	qp_write_map(out, 4);
	qp_write_key_u64(out, "watch", watch->id);
	qp_write_key_u64(out, "dropped", watch->dropped);
	if (target == NULL) {
		watch_make_body(watching, &watch->client->rights);
		qp_buffer_append(out, watching->body.data, watching->body.used_bytes);
		out->failed |= watching->body.failed;
	} else {
		qp_write_key_u64(out, "left_out", 0);
		qp_write_string(out, "targets");
		qp_write_array(out, 1);
		watch_write_target(out, target, uv_now(watching->timer.loop), watch->order.with_classes);
	}
	return true;
}

static void notify(struct watching *watching, struct watch *watch)
{
	struct peer *peer = watch->client->peer;

	if (peer->closing)
		return;
	if (peer_has_output(peer)) {
		watch->is_owed = true;
		watch->dropped++;
		watching->dropped++;
		return;
	}
	watch->is_owed = false;
	struct qp_buffer *out = service_begin_frame(watching->service);
	if (!write_notification(watching, watch, out))
		return;
	if (out->failed) {
		end_watch(watch, "failed", "the figures are larger than a frame may be, or qad is out of memory");
	} else {
		watching->notifications++;
		peer_send(peer, out);
	}
	service_end_frame(watching->service);
}

static void end_round(struct watching *watching)
{
	struct list *link = watching->all.next;
	bool is_of_all = watching->is_recording;

	watching->is_round_open = false;
	watching->is_body_valid = false;
	while (link != &watching->all) {
		struct watch *watch = LIST_OWNER(link, struct watch, link);

		link = link->next;
		if (!watch->is_due)
			continue;
		watch->is_due = false;
		is_of_all |= watch->order.pid == 0;
		notify(watching, watch);
	}
	if (is_of_all)
		total_record(watching->service);
	watch_forget_body(watching);
}

static bool is_anyone_due(const struct watching *watching, uint64_t now_ms)
{
	if (watching->is_recording && watching->record_ms <= now_ms)
		return true;
	for (struct list *link = watching->all.next; link != &watching->all; link = link->next)
		if (LIST_OWNER(link, struct watch, link)->due_ms <= now_ms)
			return true;
	return false;
}

static void on_timer(uv_timer_t *timer)
{
	struct watching *watching = timer->data;

	if (watching->is_round_open && watching->unanswered == 0)
		end_round(watching);

	uint64_t now_ms = uv_now(timer->loop);
	bool may_begin = !watching->is_round_open || now_ms >= watching->began_ms + ANSWER_MS;
	if (may_begin && is_anyone_due(watching, now_ms)) {
		if (watching->is_round_open)
			end_round(watching); /* who has not answered yet is shown as before */
		begin_round(watching, now_ms);
	}
	set_timer(watching);
}

/* What the layers above and below tell. */

uint32_t watching_add(struct watching *watching, struct client *client, const struct watch_order *order)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (watch == NULL)
		return 0;
	watch->client = client;
	watch->order = *order;
	if (order->pid != 0)
		watch->start_ticks = registry_find(&watching->service->registry, order->pid)->process.start_ticks;
	if (++watching->last_id == 0)
		watching->last_id = 1;
	watch->id = watching->last_id;
	watch->due_ms = uv_now(watching->timer.loop);
	list_append(&watching->all, &watch->link);
	list_init(&watch->of_client);
	list_append(&client->watches, &watch->of_client);
	client->watch_count++;
	set_timer(watching);
	return watch->id;
}

bool watching_remove(struct watching *watching, struct client *client, uint32_t id)
{
	for (struct list *link = client->watches.next; link != &client->watches; link = link->next) {
		struct watch *watch = LIST_OWNER(link, struct watch, of_client);

		if (watch->id != id)
			continue;
		destroy(watch);
		set_timer(watching);
		return true;
	}
	return false;
}

void watching_remove_all(struct watching *watching, struct client *client)
{
	if (list_is_empty(&client->watches))
		return;
	while (!list_is_empty(&client->watches))
		destroy(LIST_OWNER(client->watches.next, struct watch, of_client));
	set_timer(watching);
}

void watching_on_drained(struct watching *watching, struct client *client)
{
	struct list *link = client->watches.next;

	watching->is_body_valid = false;
	while (link != &client->watches) {
		struct watch *watch = LIST_OWNER(link, struct watch, of_client);

		link = link->next;
		if (watch->is_owed)
			notify(watching, watch);
	}
	watch_forget_body(watching);
}

void watching_on_target(struct watching *watching, struct target *target)
{
	target->watching = watching;
}

void watching_on_gone(struct watching *watching, struct target *target)
{
	pid_t pid = target->peer->who.pid;
	struct list *link = watching->all.next;

	while (link != &watching->all) {
		struct watch *watch = LIST_OWNER(link, struct watch, link);

		link = link->next;
		if (watch->order.pid == pid && watched_target(watch) == NULL)
			end_watch(watch, "gone", "the target ended, or its agent was stopped");
	}
}
