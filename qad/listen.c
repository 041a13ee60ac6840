/*
 * Two qads that start at the same moment must not both find the place free. They take turns by a lock on the directory
 * (flock): under it the place is probed and taken. Somebody else might hold that lock for ever, so it is waited
 * for only a short time.
 *
 * qad accepts by itself, rather than with uv_listen: libuv answers a lack of descriptors by accepting and closing
 * everything that waits, without a word. Here accepting pauses, the spare descriptor is given up so that /proc can
 * still be read for those who are connected, and the log says so once. It goes on when a connection ends, or after a
 * second.
 */
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "socket_file.h"

#define RETRY_MS 1000u
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 10000000L
#define ACCEPTS_IN_A_ROW 64 /* then those who are connected get their turn */

/* A descriptor of the directory, locked if that is possible within a second; closing it ends the lock. */
static int lock_directory(const struct qp_address *address)
{
	char directory[QP_ADDRESS_BYTES + 1];
	struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	int fd;

	qp_address_directory(address, directory);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (int i = 0; i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; i++)
		nanosleep(&pause, NULL);
	return fd;
}

/* 0 when the place is free or can be taken over. */
static int check_place(struct listener *listener)
{
	const char *path = listener->address.path;
	int found = socket_file_probe(path);

	switch (found) {
	case SOCKET_FILE_NONE:
	case SOCKET_FILE_STALE:
		return 0;
	case SOCKET_FILE_LIVE:
		log_write(listener->log, LOG_LEVEL_ERROR, "another qad is already listening on %s", path);
		return -EADDRINUSE;
	case SOCKET_FILE_OTHER:
		log_write(listener->log, LOG_LEVEL_ERROR,
			  "%s is there and is not a socket; remove it, or choose with --socket", path);
		return -EADDRINUSE;
	default:
		log_write(listener->log, LOG_LEVEL_ERROR, "can not look at %s: %s", path, strerror(-found));
		return found;
	}
}

static int make_directory(struct listener *listener)
{
	char directory[QP_ADDRESS_BYTES + 1];
	struct stat status;

	qp_address_directory(&listener->address, directory);
	listener->has_made_directory = lstat(directory, &status) != 0 && errno == ENOENT;
	int error = qp_address_make_directory(&listener->address);

	if (error == -EPERM)
		log_write(listener->log, LOG_LEVEL_ERROR,
			  "the directory of %s must be yours, not a link, and closed to others (chmod 700)",
			  listener->address.path);
	else if (error != 0)
		log_write(listener->log, LOG_LEVEL_ERROR, "can not make the directory of %s: %s",
			  listener->address.path, strerror(-error));
	return error;
}

static int take_place(struct listener *listener)
{
	struct stat status;
	int fd = socket_file_listen(listener->address.path);

	if (fd < 0) {
		log_write(listener->log, LOG_LEVEL_ERROR, "can not listen on %s: %s", listener->address.path,
			  strerror(-fd));
		return fd;
	}
	listener->socket = fd;
	if (lstat(listener->address.path, &status) == 0) {
		listener->device = status.st_dev;
		listener->inode = status.st_ino;
	}
	return 0;
}

void listener_init(struct listener *listener, struct log *log)
{
	*listener = (struct listener){.log = log, .socket = -1, .spare = -1};
}

int listener_open(struct listener *listener, const struct qp_address *address)
{
	int error, lock;

	listener->address = *address;
	error = make_directory(listener);
	if (error != 0)
		return error;
	lock = lock_directory(address);
	if (lock < 0) {
		log_write(listener->log, LOG_LEVEL_ERROR, "can not open the directory of %s: %s", address->path,
			  strerror(-lock));
		return lock;
	}
	error = check_place(listener);
	if (error == 0)
		error = take_place(listener);
	close(lock);
	return error;
}

void listener_take(struct listener *listener, const struct qp_address *address, int socket)
{
	listener->address = *address;
	listener->socket = socket;
	listener->is_handed_over = true;
}

void listener_give_directory(const struct listener *listener, uid_t uid)
{
	char directory[QP_ADDRESS_BYTES + 1];

	qp_address_directory(&listener->address, directory);
	if (listener->has_made_directory && lchown(directory, uid, (gid_t)-1) == 0)
		return;
	if (!listener->is_handed_over)
		log_write(listener->log, LOG_LEVEL_INFO, "%s stays when qad ends; the next one replaces it",
			  listener->address.path);
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
		log_fault(listener->log, uv_now(listener->poll.loop),
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
	if (listener->is_short)
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
		if (listener->peers->before_hello >= listener->peers->limits->before_hello) {
			stop_watching(listener);
			return;
		}

		int fd = accept4(listener->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
				pause_accepting(listener, errno);
			else if (errno == EAGAIN)
				end_shortage(listener);
			return; /* none waits, or it gave up again */
		}
		int error = peer_create(listener->peers, fd);
		if (error != 0)
			log_fault(listener->log, uv_now(poll->loop), "a connection was refused: %s", strerror(-error));
	}
}

void listener_on_room(struct listener *listener)
{
	if (listener->is_watching || listener->socket < 0 ||
	    listener->peers->before_hello >= listener->peers->limits->before_hello)
		return;
	if (uv_poll_start(&listener->poll, UV_READABLE, on_connection) == 0)
		listener->is_watching = true;
}

int listener_start(struct listener *listener, uv_loop_t *loop, struct peers *peers)
{
	int error = uv_poll_init(loop, &listener->poll, listener->socket);

	if (error != 0) {
		log_write(listener->log, LOG_LEVEL_ERROR, "can not wait for connections: %s", uv_strerror(error));
		return error;
	}
	listener->peers = peers;
	listener->poll.data = listener;
	uv_timer_init(loop, &listener->retry);
	listener->retry.data = listener;
	listener_on_room(listener);
	return 0;
}

static void remove_file(const struct listener *listener)
{
	struct stat status;

	if (lstat(listener->address.path, &status) == 0 && status.st_dev == listener->device &&
	    status.st_ino == listener->inode)
		unlink(listener->address.path);
}

void listener_close(struct listener *listener)
{
	if (listener->socket < 0)
		return;
	if (!listener->is_handed_over)
		remove_file(listener);
	if (listener->peers != NULL) {
		uv_close((uv_handle_t *)&listener->poll, NULL);
		uv_close((uv_handle_t *)&listener->retry, NULL);
	}
	close(listener->socket);
	listener->socket = -1;
	if (listener->spare >= 0)
		close(listener->spare);
	listener->spare = -1;
}
