/*
 * http.h - how an answer over HTTP is made.
 *
 * A handler makes one answer, a job. All GET and HEAD requests for the same thing (route, parameters, form) share a
 * job: while it is made they wait for it, and for HTTP_FRESH_MS after its figures were taken they get the very same
 * answer, rendered once. So a handler sees no connections, and however many readers there are, targets are asked and
 * text is made about once a second. A POST is never shared.
 *
 * Before a handler runs, everything about the request itself was checked: host, method, path, parameters, sizes.
 * A handler answers exactly once, now or later; the job must not be used after that.
 */
#ifndef QAD_HTTP_H
#define QAD_HTTP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http_options.h"
#include "service.h"

/* Figures are this old at most when a request comes; a little less than the second in which readers come again. */
#define HTTP_FRESH_MS 900u

enum { HTTP_PARAMETERS = 4, HTTP_VALUE_BYTES = 64, HTTP_REST_BYTES = 64 };

enum http_method { HTTP_GET /* and HEAD */, HTTP_POST };

enum http_type {
	HTTP_TYPE_TEXT,
	HTTP_TYPE_METRICS,
	HTTP_TYPE_OPENMETRICS,
	HTTP_TYPE_JSON,
	HTTP_TYPE_HTML,
	HTTP_TYPE_CSS,
	HTTP_TYPE_JS,
	HTTP_TYPE_SVG,
	HTTP_TYPE_PNG,
	HTTP_TYPE_ICO,
	HTTP_TYPES
};

struct http;
struct http_job;
struct MHD_Response;

/* A row of the table in http_route.c. */
struct http_route {
	const char *path; /* a segment PID is a decimal pid; a last segment * is any one */
	/* The names that a query may have, at most HTTP_PARAMETERS and a NULL; or NULL. */
	const char *const *parameters;
	void (*run)(struct http_job *job);
	enum http_method method;
	bool is_scrape; /* of metrics: the Accept header matters, see wants_openmetrics */
};

/* What all requests of one job have in common. */
struct http_wish {
	const struct http_route *route;
	pid_t pid;                                          /* of the segment PID, else 0 */
	char rest[HTTP_REST_BYTES + 1];                     /* the segment *, else "" */
	char values[HTTP_PARAMETERS][HTTP_VALUE_BYTES + 1]; /* of the parameters, in the order of the route */
	bool is_given[HTTP_PARAMETERS];
	bool wants_openmetrics;
};

struct http_job {
	/* For handlers, to read. */
	struct service *service;
	struct http_wish wish;
	/* For http_job.c. */
	struct http *http;
	struct list link;     /* in http->jobs */
	struct list requests; /* struct http_request that wait for it */
	struct deadline deadline;
	uint64_t as_of_ms;
	uint64_t made_ms, removals; /* when it was answered, and how many targets had gone by then */
	size_t users;               /* requests that wait for it, or have not sent it yet */
	bool is_answered, is_asking, is_listed;
	unsigned status;
	struct MHD_Response *response;
	struct waiter waiter;
	void (*on_answer)(struct waiter *waiter, const struct answer *answer);
	struct trim_order order; /* of a trim */
	struct list of_round;    /* waits for the figures of all targets */
	void (*on_ready)(struct http_job *job);
};

/* The value of a parameter, percent-decoded; NULL: not given. The name is one of the route's. */
const char *http_parameter(const struct http_job *job, const char *name);
/* The same as a number. False: it is none; that was answered. */
bool http_parameter_u64(struct http_job *job, const char *name, uint64_t missing, uint64_t *value);

/* The target of wish.pid. NULL: there is none; that was answered. */
struct target *http_find_target(struct http_job *job);

/* Asks one target. on_answer comes later, never from inside; or not at all, when qad ends. */
void http_ask(struct http_job *job, struct target *target, enum question_kind kind,
	      void (*on_answer)(struct waiter *waiter, const struct answer *answer));
struct http_job *http_job_of(struct waiter *waiter);

/*
 * Calls on_ready when what is known of all targets is fresh (target->last, with rows if they were asked for, and
 * target->sample): perhaps at once, from inside. Silent targets are not waited for, others as long as stats may take.
 */
void http_want_figures(struct http_job *job, bool with_classes, void (*on_ready)(struct http_job *job));

/*
 * Answers. The memory of http_answer_bytes (from malloc) and the JSON are taken over. Static data stays for ever, and
 * etag, in its quotes, is its mark: who sends that along and would get the same is told so.
 */
void http_answer_bytes(struct http_job *job, unsigned status, enum http_type type, void *data, size_t size_bytes);
void http_answer_static(struct http_job *job, enum http_type type, const void *data, size_t size_bytes,
			const char *etag);
/* NULL: the answer is that memory is out. */
void http_answer_json(struct http_job *job, unsigned status, json_t *json);
/* Below /api/ an object with the key error, elsewhere a line of text. */
void http_fail(struct http_job *job, unsigned status, const char *code, const char *message);
/* For an outcome that is not ANSWER_OK. */
void http_fail_outcome(struct http_job *job, const struct target *target, enum answer_outcome outcome);

#endif
