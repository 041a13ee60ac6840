/*
 * Jobs that are being made, and those that were made a moment ago, on one list; the latter leave it by a deadline, so
 * that an answer of megabytes does not stay when nobody asks any more. An answer that is an error goes only to those
 * who waited for it.
 *
 * A target that went makes answers out of date at once. Where targets come and go all the time, an answer is given for
 * as long as it took to make ten of them a second and no more.
 */
#include <stdlib.h>
#include <string.h>

#include "http_core.h"

/* More than this many answers that nobody waits for are not kept. */
#define KEPT_JOBS 64u
#define LEAST_MS 100u

/* Nobody new gets it. It goes when those have sent it who have it already. */
static void retire(struct http_job *job)
{
	deadline_stop(&job->http->job_deadlines, &job->deadline);
	if (job->is_listed)
		job->http->job_count--;
	job->is_listed = false;
	list_remove(&job->link);
	if (job->users > 0)
		return;
	if (job->response != NULL)
		MHD_destroy_response(job->response);
	free(job);
}

static void on_due(struct deadline_queue *queue, struct deadline *entry)
{
	(void)queue;
	retire(LIST_OWNER(entry, struct http_job, deadline));
}

void http_jobs_init(struct http *http)
{
	list_init(&http->jobs);
	deadline_queue_init(&http->job_deadlines, http->service->loop, HTTP_FRESH_MS, on_due);
}

void http_jobs_close(struct http *http)
{
	while (!list_is_empty(&http->jobs)) {
		struct http_job *job = LIST_OWNER(http->jobs.next, struct http_job, link);

		if (job->is_asking)
			question_forget(&http->service->questions, &job->waiter);
		list_remove(&job->of_round);
		for (struct list *link; (link = list_take_first(&job->requests)) != NULL;)
			MHD_resume_connection(LIST_OWNER(link, struct http_request, link)->connection);
		job->is_answered = true; /* with nothing */
		retire(job);
	}
	deadline_queue_close(&http->job_deadlines);
}

static bool is_current(const struct http_job *job, uint64_t now_ms)
{
	if (!job->is_answered)
		return true;
	if (now_ms - job->as_of_ms >= HTTP_FRESH_MS)
		return false;
	return job->removals == job->service->registry.removals || now_ms - job->made_ms < LEAST_MS;
}

static bool is_same(const struct http_wish *one, const struct http_wish *other)
{
	if (one->route != other->route || one->pid != other->pid ||
	    one->wants_openmetrics != other->wants_openmetrics || strcmp(one->rest, other->rest) != 0)
		return false;
	for (int i = 0; i < HTTP_PARAMETERS; i++)
		if (one->is_given[i] != other->is_given[i] || strcmp(one->values[i], other->values[i]) != 0)
			return false;
	return true;
}

static struct http_job *find_job(struct http *http, const struct http_wish *wish)
{
	uint64_t now_ms = uv_now(http->service->loop);

	for (struct list *link = http->jobs.next; link != &http->jobs; link = link->next) {
		struct http_job *job = LIST_OWNER(link, struct http_job, link);

		if (is_same(&job->wish, wish) && is_current(job, now_ms))
			return job;
	}
	return NULL;
}

/* The oldest that is only kept. */
static void make_room(struct http *http)
{
	struct list *link = http->jobs.next;

	while (http->job_count >= KEPT_JOBS && link != &http->jobs) {
		struct http_job *job = LIST_OWNER(link, struct http_job, link);

		link = link->next;
		if (job->is_answered)
			retire(job);
	}
}

static struct http_job *create_job(struct http *http, const struct http_wish *wish)
{
	struct http_job *job = calloc(1, sizeof(*job));

	if (job == NULL)
		return NULL;
	make_room(http);
	job->service = http->service;
	job->http = http;
	job->wish = *wish;
	job->as_of_ms = uv_now(http->service->loop);
	list_init(&job->requests);
	list_init(&job->of_round);
	deadline_init(&job->deadline);
	list_append(&http->jobs, &job->link);
	job->is_listed = true;
	http->job_count++;
	return job;
}

struct http_job *http_job_for(struct http *http, struct http_request *request, const struct http_wish *wish)
{
	bool is_shared = wish->route->method == HTTP_GET;
	struct http_job *job = is_shared ? find_job(http, wish) : NULL;
	bool is_new = job == NULL;

	if (is_new)
		job = create_job(http, wish);
	if (job == NULL)
		return NULL;
	request->job = job;
	job->users++;
	if (!job->is_answered)
		list_append(&job->requests, &request->link);
	if (is_new)
		wish->route->run(job);
	return job;
}

void http_job_release(struct http_request *request)
{
	struct http_job *job = request->job;

	request->job = NULL;
	list_remove(&request->link);
	if (job == NULL)
		return;
	job->users--;
	if (!job->is_listed)
		retire(job);
}

void http_job_answer(struct http_job *job, unsigned status, struct MHD_Response *response)
{
	struct http *http = job->http;

	job->status = status;
	job->response = response;
	job->is_answered = true;
	job->made_ms = uv_now(http->service->loop);
	job->removals = http->service->registry.removals;
	for (struct list *link; (link = list_take_first(&job->requests)) != NULL;) {
		struct http_request *request = LIST_OWNER(link, struct http_request, link);

		/* The one whose call made this job is not suspended yet. */
		if (request->is_suspended) {
			MHD_resume_connection(request->connection);
			http_wake(http);
		}
		request->is_suspended = false;
	}
	if (status >= 400 || response == NULL || job->wish.route->method == HTTP_POST)
		retire(job);
	else
		deadline_start(&http->job_deadlines, &job->deadline);
}

/* Questions. */

struct http_job *http_job_of(struct waiter *waiter)
{
	return LIST_OWNER(waiter, struct http_job, waiter);
}

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
	struct http_job *job = http_job_of(waiter);

	job->is_asking = false;
	job->on_answer(waiter, answer);
}

void http_ask(struct http_job *job, struct target *target, enum question_kind kind,
	      void (*on_answer_of_job)(struct waiter *waiter, const struct answer *answer))
{
	job->is_asking = true;
	job->on_answer = on_answer_of_job;
	job->waiter.on_answer = on_answer;
	question_ask(&job->service->questions, target, kind, &job->waiter);
}
