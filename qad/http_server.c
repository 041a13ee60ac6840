/*
 * The life of HTTP: its socket is opened before qad becomes another user, libmicrohttpd is started when qad serves, and
 * at the end all goes in the opposite order. On the way between, http_loop.c has it.
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
	int error;

	http_connections_init(http);
	http_jobs_init(http);
	http_round_init(http);
	http_loop_init(http);
	http->is_started = true;
	error = start_library(http);
	if (error == 0)
		error = http_loop_start(http);
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
	http_loop_close(http); /* before the descriptor that it polls is closed */
	if (http->daemon != NULL)
		MHD_stop_daemon(http->daemon);
	http_connections_close(http);
}

void http_destroy(struct http *http)
{
	free(http);
}
