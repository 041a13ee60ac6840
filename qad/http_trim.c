/*
 * A trim over HTTP, by the same question as any other. That the request may do so was checked before: host, origin and
 * token. It is done in the name of qad itself, and so it is logged.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <microhttpd.h>

#include "http.h"
#include "http_handlers.h"

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct http_job *job = http_job_of(waiter);
	const struct target *target = waiter->target;
	const struct qp_trim *trim = answer->trim;

	if (answer->outcome != ANSWER_OK) {
		http_fail_outcome(job, target, answer->outcome);
		return;
	}
	http_answer_json(job, MHD_HTTP_OK,
			 json_pack("{s:i,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "pid",
				   (int)target->peer->who.pid, "command", target->process.command, "name", target->name,
				   "returned_bytes", (json_int_t)trim->returned_bytes, "held_before_bytes",
				   (json_int_t)trim->held_before_bytes, "held_after_bytes",
				   (json_int_t)trim->held_after_bytes, "cached_before_bytes",
				   (json_int_t)trim->cached_before_bytes, "cached_after_bytes",
				   (json_int_t)trim->cached_after_bytes, "duration_us", (json_int_t)trim->duration_us,
				   "threads_skipped", (json_int_t)trim->threads_skipped, "rss_before_bytes",
				   (json_int_t)answer->rss_before_bytes, "rss_after_bytes",
				   (json_int_t)answer->rss_after_bytes));
}

void http_trim(struct http_job *job)
{
	struct trim_order *order = &job->order;
	const char *pool = http_parameter(job, "pool");
	struct target *target;

	if (!http_parameter_u64(job, "block_size", 0, &order->block_size) ||
	    !http_parameter_u64(job, "keep_bytes", 0, &order->keep_bytes))
		return;
	if (pool != NULL && (pool[0] == '\0' || order->block_size != 0)) {
		http_fail(job, MHD_HTTP_BAD_REQUEST, "bad_request",
			  "a trim is of one \"block_size\" or of one \"pool\" with a name, not of both");
		return;
	}
	snprintf(order->pool, sizeof(order->pool), "%s", pool != NULL ? pool : "");
	order->uid = geteuid();
	order->pid = getpid();
	target = http_find_target(job);
	if (target == NULL)
		return;
	job->waiter.order = order;
	http_ask(job, target, QUESTION_TRIM, on_answer);
}
