/*
 * /api/v1: what the methods of the protocol tell, to be read only. HTTP shows every target that this qad has, since
 * whoever may connect to its port may see them. A target that does not answer is shown as it was last known, with
 * the age of that, as `ps` and the watches do.
 */
#include <microhttpd.h>

#include "describe.h"
#include "http_handlers.h"
#include "http_json.h"
#include "total.h"
#include "write.h"

/* All targets. */

static void write_target(struct qp_buffer *out, const struct target *target, uint64_t now_ms)
{
	bool has_figures = target->last.is_known;

	qp_write_map(out, DESCRIBE_TARGET_PAIRS + (has_figures ? DESCRIBE_TOTALS_PAIRS : 0));
	describe_target(out, target, &target->sample);
	if (has_figures)
		describe_totals(out, &target->last.totals, now_ms - target->last.at_ms);
}

static void answer_targets(struct http_job *job)
{
	const struct registry *registry = &job->service->registry;
	struct qp_buffer *out = http_begin_frame(job);
	uint32_t count = 0;

	for (size_t i = 0; i < registry->count; i++)
		count += !registry->targets[i]->peer->closing;
	qp_write_map(out, 1);
	qp_write_string(out, "targets");
	qp_write_array(out, count);
	for (size_t i = 0; i < registry->count; i++)
		if (!registry->targets[i]->peer->closing)
			write_target(out, registry->targets[i], uv_now(job->service->loop));
	http_answer_frame(job);
}

void http_api_targets(struct http_job *job)
{
	http_want_figures(job, false, answer_targets);
}

/* One target. */

static void answer_stats(struct http_job *job, const struct target *target, const struct figures *figures)
{
	uint64_t now_ms = uv_now(job->service->loop);

	describe_stats(http_begin_frame(job), target, figures, now_ms - figures->at_ms);
	http_answer_frame(job);
}

static void on_stats(struct waiter *waiter, const struct answer *answer)
{
	struct http_job *job = http_job_of(waiter);
	struct target *target = waiter->target;

	if (answer->outcome == ANSWER_OK) {
		watching_record(&job->service->watching, target, &answer->figures->totals);
		answer_stats(job, target, answer->figures);
	} else if (answer->outcome == ANSWER_TIMEOUT && target->last.is_known) {
		answer_stats(job, target, &target->last);
	} else {
		http_fail_outcome(job, target, answer->outcome);
	}
}

void http_api_target(struct http_job *job)
{
	struct target *target = http_find_target(job);

	if (target == NULL)
		return;
	if (!target->is_silent)
		http_ask(job, target, QUESTION_CLASSES, on_stats);
	else if (target->last.is_known)
		answer_stats(job, target, &target->last);
	else
		http_fail_outcome(job, target, ANSWER_TIMEOUT);
}

static void on_map(struct waiter *waiter, const struct answer *answer)
{
	struct http_job *job = http_job_of(waiter);

	if (answer->outcome != ANSWER_OK) {
		http_fail_outcome(job, waiter->target, answer->outcome);
		return;
	}
	describe_map(http_begin_frame(job), waiter->target, answer->map);
	http_answer_frame(job);
}

void http_api_map(struct http_job *job)
{
	struct target *target = http_find_target(job);

	if (target == NULL)
		return;
	if (target->is_silent)
		http_fail_outcome(job, target, ANSWER_TIMEOUT);
	else
		http_ask(job, target, QUESTION_MAP, on_map);
}

/* History. */

/* False: that was answered. */
static bool read_range(struct http_job *job, struct history_query *query)
{
	uint64_t step_s;

	if (!http_parameter_u64(job, "step_s", 1, &step_s) ||
	    !http_parameter_u64(job, "from_s", UINT64_MAX, &query->from_s) ||
	    !http_parameter_u64(job, "to_s", 0, &query->to_s))
		return false;
	if (history_step_of(step_s, &query->step))
		return true;
	http_fail(job, MHD_HTTP_BAD_REQUEST, "bad_request", "\"step_s\" is 1 or 10");
	return false;
}

void http_api_target_history(struct http_job *job)
{
	struct history_query query;
	const struct target *target;

	if (!read_range(job, &query))
		return;
	target = http_find_target(job);
	if (target == NULL)
		return;
	describe_target_history(http_begin_frame(job), target, &query, uv_now(job->service->loop));
	http_answer_frame(job);
}

void http_api_history(struct http_job *job)
{
	struct history_query query;
	struct qp_buffer *out;

	if (!read_range(job, &query))
		return;
	out = http_begin_frame(job);
	qp_write_map(out, DESCRIBE_HISTORY_PAIRS);
	describe_history(out, &job->service->total, &query, uv_now(job->service->loop));
	http_answer_frame(job);
}

/* qad itself. */

void http_api_health(struct http_job *job)
{
	describe_health(http_begin_frame(job), job->service);
	http_answer_frame(job);
}
