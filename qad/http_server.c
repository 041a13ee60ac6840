/*
 * libmicrohttpd on qad's own loop: it waits with an epoll of its own, whose descriptor the loop polls, and works only
 * when it is called. No thread, and nothing that blocks. What it has left to do at the end of a call is done after all
 * others had their turn, so that a busy reader does not keep the socket side waiting.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_core.h"

/* libmicrohttpd keeps a connection's request in one piece of memory; this much of it beside the headers. */
#define MEMORY_BESIDE_BYTES 4096u

static void log_fault_of_library(void *closure, const char *format, va_list arguments)
{
	struct http *http = closure;
	char text[512];

	vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = '\0';
	log_write(http->service->log, LOG_LEVEL_DEBUG, "HTTP: %s", text);
}

static void run(struct http *http);

static void on_events(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	run(poll->data);
}

static void on_timer(uv_timer_t *timer)
{
	run(timer->data);
}

static void run(struct http *http)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	MHD_run(http->daemon);
	if (MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES)
		uv_timer_start(&http->timer, on_timer, wait_ms, 0);
	else
		uv_timer_stop(&http->timer);
}

void http_wake(struct http *http)
{
	uv_timer_start(&http->timer, on_timer, 0, 0);
}

static int start_library(struct http *http)
{
	const struct limits *limits = http->limits;

	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		http_on_request, http, MHD_OPTION_EXTERNAL_LOGGER, log_fault_of_library, http,
		MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, http, MHD_OPTION_NOTIFY_CONNECTION, http_on_connection,
		http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)limits->http_connections + HTTP_SPARE_CONNECTIONS + 1,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)limits->http_header_bytes * 2 + MEMORY_BESIDE_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_END);
	return http->daemon != NULL ? 0 : -ENOMEM;
}

int http_create(struct service *service, const struct http_options *options, struct http **created)
{
	struct http *http;
	int error;

	*created = NULL;
	if (!options->is_on)
		return 0;
	http = calloc(1, sizeof(*http));
	if (http == NULL)
		return -ENOMEM;
	http->service = service;
	http->limits = service->limits;
	http->counters = &service->http;
	http->options = *options;
	http->listener.socket = -1;
	error = http_listener_open(http);
	if (error == 0 && options->allows_trim)
		error = http_token_load(http);
	if (error != 0) {
		http_listener_close(http);
		free(http);
		return error;
	}
	*created = http;
	return 0;
}

/* What is there from now on is closed by http_close, whatever fails. */
int http_start(struct http *http)
{
	uv_loop_t *loop = http->service->loop;
	int error;

	http_connections_init(http);
	http_jobs_init(http);
	http_round_init(http);
	uv_timer_init(loop, &http->timer);
	http->timer.data = http;
	http->is_started = true;
	error = start_library(http);
	if (error == 0) {
		const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

		error = uv_poll_init(loop, &http->poll, info->epoll_fd);
		http->is_polling = error == 0;
	}
	if (error == 0) {
		http->poll.data = http;
		error = uv_poll_start(&http->poll, UV_READABLE, on_events);
	}
	if (error != 0) {
		log_write(http->service->log, LOG_LEVEL_ERROR, "can not start HTTP: %s", strerror(-error));
		return error;
	}
	http->counters->is_on = true;
	http->counters->allows_trim = http->options.allows_trim;
	return http_listener_start(http);
}

void http_close(struct http *http)
{
	http->is_ending = true;
	http_listener_close(http);
	if (!http->is_started)
		return;
	http_round_close(http);
	http_jobs_close(http);
	/* Before the descriptor that it polls is closed. */
	if (http->is_polling)
		uv_close((uv_handle_t *)&http->poll, NULL);
	if (http->daemon != NULL)
		MHD_stop_daemon(http->daemon);
	uv_close((uv_handle_t *)&http->timer, NULL);
	http_connections_close(http);
}

void http_destroy(struct http *http)
{
	free(http);
}
