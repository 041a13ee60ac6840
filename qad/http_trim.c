/*
 * A trim over HTTP, by the same question as any other. That the request may do so was checked before: host, origin and
 * token. It is done in the name of qad itself, and so it is logged.
 */
#include <stdio.h>
#include <unistd.h>

#include <microhttpd.h>

#include "describe.h"
#include "http.h"
#include "http_handlers.h"
#include "http_json.h"

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct http_job *job = http_job_of(waiter);

	if (answer->outcome != ANSWER_OK) {
		http_fail_outcome(job, waiter->target, answer->outcome);
		return;
	}
	describe_trim(http_begin_frame(job), waiter->target, answer);
	http_answer_frame(job);
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
