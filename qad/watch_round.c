/*
 * One timer, set for the earliest moment at which a watch is due, and none when there is no watch. Sending is left to
 * it too: an answer's rows are in the target only after all who waited for it were told.
 */
#include "service.h"
#include "total.h"
#include "watch_body.h"
#include "watch_core.h"

#define RECORD_MS 1000u
#define ANSWER_MS 100u /* so long at least is waited for answers before the next round */

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

void watch_set_timer(struct watching *watching)
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

void watching_record(struct watching *watching, struct target *target, const struct qp_totals *totals)
{
	uint64_t now_ms = uv_now(watching->timer.loop);

	process_sample(&target->process, &target->sample);
	if (!history_add(&target->history, now_ms, totals, target->sample.rss_bytes))
		log_trouble(watching->service->log, now_ms, "out of memory: no history of target %d",
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
		watch_set_timer(watching);
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

		if (!watch_is_of(watch, target))
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

static void end_round(struct watching *watching)
{
	struct list *link = watching->all.next;
	bool is_of_all = watching->is_recording;

	watching->is_round_open = false;
	watch_forget_body(watching);
	while (link != &watching->all) {
		struct watch *watch = LIST_OWNER(link, struct watch, link);

		link = link->next;
		if (!watch->is_due)
			continue;
		watch->is_due = false;
		is_of_all |= watch->order.pid == 0;
		watch_notify(watching, watch);
	}
	if (is_of_all)
		total_record(watching->service);
	watch_rest_body(watching);
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
	watch_set_timer(watching);
}
