/*
 * http_core.h - the parts of HTTP among themselves. Handlers need http.h only.
 */
#ifndef QAD_HTTP_CORE_H
#define QAD_HTTP_CORE_H

#include <microhttpd.h>

#include "http.h"
#include "http_counters.h"
#include "http_server.h"

/* The figures of all targets: see http_round.c. */
struct http_round_waiter;

struct http_round {
	struct http *http;
	uv_timer_t timer;                  /* ends it */
	struct http_round_waiter *waiters; /* of the round that is open */
	size_t waiter_count, unanswered;
	bool is_open, with_classes;
	uint64_t began_ms;
	bool has_ended, had_classes; /* the one before, and when it began */
	uint64_t had_ms;
	struct list jobs; /* wait for the open round */
	struct list next; /* need classes, which the open round does not bring */
};

struct http_listener {
	int socket;
	uv_poll_t poll;
	uv_timer_t retry; /* runs only while descriptors are out */
	bool is_started, is_watching, is_short;
};

struct http {
	struct service *service;
	const struct limits *limits;
	struct http_counters *counters; /* service->http */
	struct http_options options;
	char token[129]; /* "": nobody may trim */
	struct MHD_Daemon *daemon;
	struct http_listener listener;
	uv_poll_t poll;   /* the descriptor of libmicrohttpd's own epoll */
	uv_timer_t timer; /* it has more to do later */
	uv_idle_t idle;   /* and at once */
	bool is_started, is_polling, is_ending;
	struct list jobs;
	size_t job_count;
	struct deadline_queue job_deadlines;
	struct deadline_queue request_deadlines, idle_deadlines, answer_deadlines;
	struct http_round round;
};

/* So many connections more than allowed are taken, and told 503; beyond these, others wait. */
enum { HTTP_SPARE_CONNECTIONS = 16 };

/* A request, from its headers to the end of its answer. */
struct http_request {
	struct list link; /* in job->requests, while it waits */
	struct http *http;
	struct MHD_Connection *connection;
	struct http_job *job; /* that it waits for, or whose answer it has to send */
	bool is_suspended;
};

/* http_loop.c: from init to close; start, 0 or a negative errno, when the library is there. */
void http_loop_init(struct http *http);
int http_loop_start(struct http *http);
void http_loop_close(struct http *http);
/* The library has something to do that no descriptor tells. */
void http_wake(struct http *http);

/* http_listen.c: 0 or a negative errno after a line in the log. */
int http_listener_open(struct http *http);
int http_listener_start(struct http *http);
/* A connection ended. */
void http_listener_on_room(struct http *http);
void http_listener_close(struct http *http);

/* http_connection.c: its times and their number; called by libmicrohttpd. */
void http_on_connection(void *closure, struct MHD_Connection *connection, void **context,
			enum MHD_ConnectionNotificationCode what);
/* A request is whole: its answer has its own time from now on. False: this connection is one too many. */
bool http_connection_begin_answer(struct MHD_Connection *connection);
void http_connection_end_answer(struct MHD_Connection *connection);
void http_connections_init(struct http *http);
void http_connections_close(struct http *http);

/* http_request.c: called by libmicrohttpd. */
enum MHD_Result http_on_request(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
				const char *version, const char *upload_data, size_t *upload_data_bytes,
				void **context);
void http_on_completed(void *closure, struct MHD_Connection *connection, void **context,
		       enum MHD_RequestTerminationCode why);

/* http_check.c: whether a request may be served at all. NULL, or why not; *status is set then. */
const char *http_check(struct http *http, struct MHD_Connection *connection, unsigned *status);

/* http_route.c */
/* HTTP_FOUND fills wish but for its parameters. */
enum http_found { HTTP_FOUND, HTTP_NO_PATH, HTTP_NO_METHOD };
enum http_found http_find_route(const char *path, const char *method, struct http_wish *wish);
/* http_parameter.c: reads the query; NULL, or what is wrong with it. */
const char *http_read_parameters(struct MHD_Connection *connection, struct http_wish *wish);

/* http_job.c */
void http_jobs_init(struct http *http);
void http_jobs_close(struct http *http);
/*
 * The job for a wish: a shared one, or a new one, whose handler ran and perhaps answered. NULL without memory. The
 * request then waits for it, or has the answer.
 */
struct http_job *http_job_for(struct http *http, struct http_request *request, const struct http_wish *wish);
/* The request has sent its answer, or ended without. Again: does nothing. */
void http_job_release(struct http_request *request);
/* Takes over the response; NULL is the answer 503. */
void http_job_answer(struct http_job *job, unsigned status, struct MHD_Response *response);

/*
 * http_answer.c: responses with all headers; NULL without memory, or when answers have too much of it. Unchanged: what
 * is told to who has that already.
 */
struct MHD_Response *http_make_unchanged(struct http *http, struct MHD_Response *known);
/* An error as clients see it: JSON or text. */
struct MHD_Response *http_make_error(struct http *http, bool is_api, const char *code, const char *message);

/* http_round.c */
void http_round_init(struct http *http);
void http_round_close(struct http *http);

/* http_token.c: makes or reads the file. 0; -ENOKEY after a line in the log. */
int http_token_load(struct http *http);

#endif
