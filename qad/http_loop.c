/*
 * libmicrohttpd on qad's own loop: it waits with an epoll of its own, whose descriptor the loop polls, and works only
 * when it is called. No thread, and nothing that blocks. What it has left to do at the end of a call is done after all
 * others had their turn, so that a busy reader does not keep the socket side waiting. That is an idle handle's work: of
 * a timer that is due at once when it is started from its own callback, libuv calls that again before it does anything
 * else.
 */
#include "http_core.h"

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

static void on_idle(uv_idle_t *idle)
{
	run(idle->data);
}

static void run(struct http *http)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	uv_timer_stop(&http->timer);
	uv_idle_stop(&http->idle);
	MHD_run(http->daemon);
	if (MHD_get_timeout(http->daemon, &wait_ms) != MHD_YES)
		return;
	if (wait_ms == 0)
		uv_idle_start(&http->idle, on_idle);
	else
		uv_timer_start(&http->timer, on_timer, wait_ms, 0);
}

void http_wake(struct http *http)
{
	uv_idle_start(&http->idle, on_idle);
}

void http_loop_init(struct http *http)
{
	uv_timer_init(http->service->loop, &http->timer);
	http->timer.data = http;
	uv_idle_init(http->service->loop, &http->idle);
	http->idle.data = http;
}

int http_loop_start(struct http *http)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int error = uv_poll_init(http->service->loop, &http->poll, info->epoll_fd);

	if (error != 0)
		return error;
	http->is_polling = true;
	http->poll.data = http;
	return uv_poll_start(&http->poll, UV_READABLE, on_events);
}

void http_loop_close(struct http *http)
{
	if (http->is_polling)
		uv_close((uv_handle_t *)&http->poll, NULL);
	uv_close((uv_handle_t *)&http->timer, NULL);
	uv_close((uv_handle_t *)&http->idle, NULL);
}
