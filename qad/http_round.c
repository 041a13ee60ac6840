/*
 * One round at a time asks all targets at once, as `ps` does; all jobs that want figures wait for the same one, and for
 * HTTP_FRESH_MS after its beginning nobody needs another. A target that somebody's watch has asked a moment ago is not
 * asked again, nor does that watch ask again what was asked here. Rounds are made only when a request needs one: nobody
 * reads, and no target is woken.
 */
#include <errno.h>
#include <stdlib.h>

#include "http_core.h"
#include "total.h"

struct http_round_waiter {
	struct waiter waiter;
	struct http_round *round;
};

static void begin(struct http_round *round, bool with_classes);

void http_round_init(struct http *http)
{
	http->round = (struct http_round){.http = http};
	list_init(&http->round.jobs);
	list_init(&http->round.next);
	uv_timer_init(http->service->loop, &http->round.timer);
	http->round.timer.data = &http->round;
}

void http_round_close(struct http *http)
{
	struct http_round *round = &http->round;

	for (size_t i = 0; i < round->waiter_count; i++)
		question_forget(&http->service->questions, &round->waiters[i].waiter);
	free(round->waiters);
	round->waiters = NULL;
	round->is_open = false;
	uv_close((uv_handle_t *)&round->timer, NULL);
}

/* A target whose process ended, while a child still holds its connection, leaves here. */
static void sample_all(const struct registry *registry)
{
	for (size_t i = 0; i < registry->count; i++) {
		struct target *target = registry->targets[i];

		if (target->peer->closing)
			continue;
		target->sample = (struct process_sample){0};
		if (process_sample(&target->process, &target->sample) == -ESRCH)
			peer_end(target->peer, "its process ended");
	}
}

static void end(struct http_round *round)
{
	struct list jobs;

	round->is_open = false;
	round->has_ended = true;
	round->had_classes = round->with_classes;
	round->had_ms = round->began_ms;
	free(round->waiters);
	round->waiters = NULL;
	round->waiter_count = 0;
	sample_all(&round->http->service->registry);
	total_record(round->http->service);
	list_init(&jobs);
	list_append_all(&jobs, &round->jobs);
	for (struct list *link; (link = list_take_first(&jobs)) != NULL;) {
		struct http_job *job = LIST_OWNER(link, struct http_job, of_round);

		job->as_of_ms = round->had_ms;
		job->on_ready(job);
	}
	if (!round->is_open && !list_is_empty(&round->next)) {
		list_append_all(&round->jobs, &round->next);
		begin(round, true);
	}
}

static void on_timer(uv_timer_t *timer)
{
	end(timer->data);
}

/* What came is in the target only after all who waited for it were told: so the end is left to a timer. */
static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct http_round *round = LIST_OWNER(waiter, struct http_round_waiter, waiter)->round;

	if (answer->outcome == ANSWER_OK)
		watching_record(&round->http->service->watching, waiter->target, &answer->figures->totals);
	if (--round->unanswered == 0)
		uv_timer_start(&round->timer, on_timer, 0, 0);
}

/* What somebody asked the target a moment ago, a watch perhaps, and it has answered. */
static bool is_fresh(const struct target *target, uint64_t now_ms, bool with_classes)
{
	const struct target_watch *watch = &target->watch;

	return target->last.is_known && watch->asked_ms != 0 && now_ms - watch->asked_ms < HTTP_FRESH_MS &&
	       target->last.at_ms >= watch->asked_ms && (watch->had_classes || !with_classes);
}

static void ask(struct http_round *round, struct target *target, uint64_t now_ms)
{
	struct http_round_waiter *waiter = &round->waiters[round->waiter_count++];

	round->unanswered++;
	waiter->round = round;
	waiter->waiter.on_answer = on_answer;
	/* So that a watch need not ask the same. */
	target->watch.asked_ms = now_ms;
	target->watch.had_classes = round->with_classes;
	question_ask(&round->http->service->questions, target, round->with_classes ? QUESTION_CLASSES : QUESTION_TOTALS,
		     &waiter->waiter);
}

static void begin(struct http_round *round, bool with_classes)
{
	struct service *service = round->http->service;
	const struct registry *registry = &service->registry;
	uint64_t now_ms = uv_now(service->loop);

	round->is_open = true;
	round->with_classes = with_classes;
	round->began_ms = now_ms;
	round->http->counters->rounds++;
	/* Without memory what is known will do. */
	round->waiters = calloc(registry->count > 0 ? registry->count : 1, sizeof(*round->waiters));
	for (size_t i = 0; i < registry->count && round->waiters != NULL; i++) {
		struct target *target = registry->targets[i];

		if (target->peer->closing || target->is_silent)
			continue;
		if (!is_fresh(target, now_ms, with_classes))
			ask(round, target, now_ms);
		else if (target->watch.asked_ms < round->began_ms)
			round->began_ms = target->watch.asked_ms; /* the round is as old as what it takes over */
	}
	if (round->unanswered == 0)
		end(round);
}

void http_want_figures(struct http_job *job, bool with_classes, void (*on_ready)(struct http_job *job))
{
	struct http_round *round = &job->http->round;
	uint64_t now_ms = uv_now(job->service->loop);

	job->on_ready = on_ready;
	if (round->has_ended && now_ms - round->had_ms < HTTP_FRESH_MS && (round->had_classes || !with_classes)) {
		job->as_of_ms = round->had_ms;
		on_ready(job);
	} else if (!round->is_open) {
		list_append(&round->jobs, &job->of_round);
		begin(round, with_classes);
	} else {
		bool is_served = round->with_classes || !with_classes;

		list_append(is_served ? &round->jobs : &round->next, &job->of_round);
	}
}
