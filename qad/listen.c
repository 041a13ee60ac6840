/*
 * qad accepts by itself, rather than with uv_listen: libuv answers a lack of descriptors by accepting and closing
 * everything that waits, without a word. Here accepting pauses, the spare descriptor is given up so that /proc can
 * still be read for those who are connected, and the log says so once. It goes on when a connection ends, or after a
 * second.
 */
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RETRY_MS 1000u
#define ACCEPTS_IN_A_ROW 64 /* then those who are connected get their turn */

void listener_init(struct listener *listener, struct log *log)
{
	*listener = (struct listener){.log = log, .spare = -1};
	place_init(&listener->place, log);
}

static bool take_spare(struct listener *listener)
{
	if (listener->spare < 0)
		listener->spare = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return listener->spare >= 0;
}

static void stop_watching(struct listener *listener)
{
	uv_poll_stop(&listener->poll);
	listener->is_watching = false;
}

static void on_retry(uv_timer_t *timer)
{
	listener_on_room(timer->data);
}

/* Descriptors, or the memory for one, are out. */
static void pause_accepting(struct listener *listener, int error)
{
	stop_watching(listener);
	if (!listener->is_short)
		listener->is_short_told = log_trouble(
			listener->log, uv_now(listener->poll.loop),
			"no connection can be accepted: %s; raise the limit of open files (LimitNOFILE=, ulimit -n)",
			strerror(error));
	listener->is_short = listener->peers->is_short = true;
	if (listener->spare >= 0)
		close(listener->spare);
	listener->spare = -1;
	uv_timer_start(&listener->retry, on_retry, RETRY_MS, 0);
}

/* None waits any more. */
static void end_shortage(struct listener *listener)
{
	if (listener->is_short && listener->is_short_told)
		log_write(listener->log, LOG_LEVEL_NOTICE, "connections are accepted again");
	listener->is_short = listener->peers->is_short = false;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct listener *listener = poll->data;

	(void)status;
	(void)events;
	/* Taken back only here, where nothing else needs a descriptor before it is known whether there is another. */
	if (!take_spare(listener)) {
		pause_accepting(listener, errno);
		return;
	}
	for (int i = 0; i < ACCEPTS_IN_A_ROW; i++) {
		int fd = accept4(listener->place.socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
				pause_accepting(listener, errno);
			else if (errno == EAGAIN)
				end_shortage(listener);
			return; /* none waits, or it gave up again */
		}
		int error = peer_create(listener->peers, fd);
		if (error != 0)
			log_trouble(listener->log, uv_now(poll->loop), "a connection was refused: %s",
				    strerror(-error));
	}
}

void listener_on_room(struct listener *listener)
{
	if (listener->is_watching || listener->place.socket < 0)
		return;
	if (uv_poll_start(&listener->poll, UV_READABLE, on_connection) == 0)
		listener->is_watching = true;
}

/* The new socket gets the number of the old one, so that the handle of the loop can stay. */
static void on_place_taken(void *owner, int socket)
{
	struct listener *listener = owner;

	if (listener->is_watching)
		on_connection(&listener->poll, 0, UV_READABLE); /* who came to the old one before it was gone */
	stop_watching(listener);
	dup3(socket, listener->place.socket, O_CLOEXEC);
	close(socket);
	listener_on_room(listener);
}

int listener_start(struct listener *listener, uv_loop_t *loop, struct peers *peers)
{
	int error = uv_poll_init(loop, &listener->poll, listener->place.socket);

	if (error != 0) {
		log_write(listener->log, LOG_LEVEL_ERROR, "can not wait for connections: %s", uv_strerror(error));
		return error;
	}
	listener->peers = peers;
	listener->poll.data = listener;
	uv_timer_init(loop, &listener->retry);
	listener->retry.data = listener;
	listener_on_room(listener);
	place_watch(&listener->place, loop, on_place_taken, listener);
	return 0;
}

void listener_close(struct listener *listener)
{
	if (listener->peers != NULL) {
		uv_close((uv_handle_t *)&listener->poll, NULL);
		uv_close((uv_handle_t *)&listener->retry, NULL);
		listener->peers = NULL;
	}
	place_close(&listener->place);
	if (listener->spare >= 0)
		close(listener->spare);
	listener->spare = -1;
}
