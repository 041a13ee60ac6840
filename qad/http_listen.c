/*
 * qad accepts by itself and hands the connections to libmicrohttpd, which would wait busily when descriptors are out.
 * So a full house and a shortage of descriptors are seen here: accepting pauses, who connects meanwhile waits in the
 * kernel's queue.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "http_core.h"

#define ACCEPTS_IN_A_ROW 16
#define BACKLOG 512
#define RETRY_MS 200u

static void explain(struct http *http, const char *what, int error)
{
	const char *hint = "";

	if (error == EADDRINUSE)
		hint = "; another program listens there: take another port, or 0 for a free one";
	else if (error == EACCES)
		hint = "; ports below 1024 are for root: take a higher one";
	else if (error == EADDRNOTAVAIL)
		hint = "; this host has no such address";
	log_write(http->service->log, LOG_LEVEL_ERROR, "can not %s %s for HTTP: %s%s", what, http->options.text,
		  strerror(error), hint);
}

int http_listener_open(struct http *http)
{
	const struct sockaddr_storage *address = &http->options.address;
	int one = 1, error;
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		error = errno;
		explain(http, "make a socket at", error);
		return -error;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (address->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)address, http->options.address_bytes) != 0 || listen(fd, BACKLOG) != 0) {
		error = errno;
		explain(http, "listen at", error);
		close(fd);
		return -error;
	}
	http->listener.socket = fd;
	return 0;
}

static void stop_watching(struct http_listener *listener)
{
	uv_poll_stop(&listener->poll);
	listener->is_watching = false;
}

static void on_retry(uv_timer_t *timer)
{
	http_listener_on_room(timer->data);
}

static void pause_accepting(struct http *http, int error)
{
	struct http_listener *listener = &http->listener;

	if (!listener->is_short)
		log_trouble(http->service->log, uv_now(http->service->loop),
			    "can not accept connections of HTTP now: %s; raise the limit of open files (LimitNOFILE=, "
			    "ulimit -n)",
			    strerror(error));
	listener->is_short = true;
	stop_watching(listener);
	uv_timer_start(&listener->retry, on_retry, RETRY_MS, 0);
}

/* libmicrohttpd closes what it does not take. */
static void take(struct http *http, int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t bytes = sizeof(address);
	int one = 1;

	getpeername(fd, (struct sockaddr *)&address, &bytes);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (MHD_add_connection(http->daemon, fd, (struct sockaddr *)&address, bytes) != MHD_YES)
		log_trouble(http->service->log, uv_now(http->service->loop), "a connection of HTTP was refused: %s",
			    strerror(errno));
}

static bool is_full(const struct http *http)
{
	return http->counters->connections >= http->limits->http_connections + HTTP_SPARE_CONNECTIONS;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct http *http = poll->data;
	struct http_listener *listener = &http->listener;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS_IN_A_ROW; i++) {
		if (is_full(http)) {
			stop_watching(listener);
			return;
		}

		int fd = accept4(listener->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
				pause_accepting(http, errno);
			return; /* none waits, or it gave up again */
		}
		listener->is_short = false;
		take(http, fd);
	}
}

void http_listener_on_room(struct http *http)
{
	struct http_listener *listener = &http->listener;

	if (!listener->is_started || http->is_ending || listener->is_watching || is_full(http))
		return;
	if (uv_poll_start(&listener->poll, UV_READABLE, on_connection) == 0)
		listener->is_watching = true;
}

int http_listener_start(struct http *http)
{
	struct http_listener *listener = &http->listener;
	struct sockaddr_storage address = {0};
	socklen_t bytes = sizeof(address);
	char text[HTTP_ADDRESS_TEXT_BYTES];
	int error = uv_poll_init(http->service->loop, &listener->poll, listener->socket);

	if (error != 0) {
		explain(http, "wait for connections at", -error);
		return error;
	}
	listener->poll.data = http;
	uv_timer_init(http->service->loop, &listener->retry);
	listener->retry.data = http;
	listener->is_started = true;
	http_listener_on_room(http);
	getsockname(listener->socket, (struct sockaddr *)&address, &bytes);
	http_address_text(&address, text);
	log_write(http->service->log, LOG_LEVEL_NOTICE, "HTTP at http://%s/", text);
	return 0;
}

void http_listener_close(struct http *http)
{
	struct http_listener *listener = &http->listener;

	if (listener->is_started) {
		uv_close((uv_handle_t *)&listener->poll, NULL);
		uv_close((uv_handle_t *)&listener->retry, NULL);
	}
	if (listener->socket >= 0)
		close(listener->socket);
	listener->socket = -1;
	listener->is_started = false;
}
