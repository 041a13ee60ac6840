/*
 * Two qads that start at the same moment must not both find the place free. They take turns by a lock on the directory
 * (flock): under it the place is probed and taken. Somebody else might hold that lock for ever, so it is waited
 * for only a short time.
 *
 * inotify watches the socket's file, whose count of links changes when it is removed or replaced, and the directory for
 * its own removal or another name; not what else happens in the directory, which may be /tmp. What the events say does
 * not matter: each makes qad look whether the file of that name is still its own. Not seen are another name of a
 * directory further up, and a file system that is mounted over it.
 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "socket_file.h"

#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 10000000L
#define GRACE_MS 100u  /* who removes the file is about to remove the directory too, or to put another one there */
#define AGAIN_MS 500u  /* between two looks, or two attempts to take the place */
#define OTHER_MS 2000u /* each look at another program's socket is a connection to it */
#define EVENTS_BYTES 4096

/* Tells what is wrong, unless that was the last thing told. Returns error. */
static int fail(struct place *place, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(struct place *place, int error, const char *format, ...)
{
	char text[512];
	va_list arguments;

	if (place->told == error)
		return error;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	log_write(place->log, LOG_LEVEL_ERROR, "%s", text);
	place->told = error;
	return error;
}

/*
 * A descriptor of the directory, locked if that is possible within that many tries, or a negative errno. Closing it
 * ends the lock.
 */
static int lock_directory(struct place *place, int tries)
{
	char directory[QP_ADDRESS_BYTES + 1];
	struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	int fd;

	qp_address_directory(&place->address, directory);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(place, -errno, "can not open the directory of %s: %s; choose another with --socket",
			    place->address.path, strerror(errno));
	for (int i = 1; flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && i < tries; i++)
		nanosleep(&pause, NULL);
	return fd;
}

/* 0 when the place is free or can be taken over. */
static int check_place(struct place *place)
{
	const char *path = place->address.path;
	int found = socket_file_probe(path);

	switch (found) {
	case SOCKET_FILE_NONE:
	case SOCKET_FILE_STALE:
		return 0;
	case SOCKET_FILE_LIVE:
		if (place->is_watched)
			return fail(place, -EADDRINUSE,
				    "another qad is already listening on %s; end it ('qactl health' tells its pid), or "
				    "this one, pid %d, whose targets then go there",
				    path, (int)getpid());
		return fail(place, -EADDRINUSE,
			    "another qad is already listening on %s; end it ('qactl health' tells its pid), or choose "
			    "with --socket",
			    path);
	case SOCKET_FILE_OTHER:
		return fail(place, -EADDRINUSE, "%s is there and is not a socket; remove it, or choose with --socket",
			    path);
	default:
		return fail(place, found, "can not look at %s: %s", path, strerror(-found));
	}
}

static int make_directory(struct place *place)
{
	char directory[QP_ADDRESS_BYTES + 1];
	struct stat status;

	qp_address_directory(&place->address, directory);
	place->has_made_directory = lstat(directory, &status) != 0 && errno == ENOENT;
	int error = qp_address_make_directory(&place->address);

	if (error == -EPERM)
		return fail(place, error,
			    "the directory of %s must be yours, not a link, and closed to others (chmod 700); or "
			    "choose another with --socket",
			    place->address.path);
	if (error != 0)
		return fail(place, error,
			    "can not make the directory of %s: %s; make it, or choose another with --socket",
			    place->address.path, strerror(-error));
	if (lstat(directory, &status) == 0 && (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
		log_write(
			place->log, LOG_LEVEL_WARNING,
			"everybody may write to the directory of %s, and so put another socket in its place; chmod o-w",
			place->address.path);
	return 0;
}

static void remember_file(struct place *place)
{
	struct stat status;

	if (lstat(place->address.path, &status) != 0)
		return;
	place->device = status.st_dev;
	place->inode = status.st_ino;
}

static bool is_ours(const struct place *place)
{
	struct stat status;

	return lstat(place->address.path, &status) == 0 && status.st_dev == place->device &&
	       status.st_ino == place->inode;
}

/* The listening socket or a negative errno. */
static int take(struct place *place, int tries)
{
	int error = make_directory(place);

	if (error != 0)
		return error;
	int lock = lock_directory(place, tries);
	if (lock < 0)
		return lock;
	int fd = check_place(place);
	if (fd == 0) {
		fd = socket_file_listen(place->address.path);
		if (fd < 0)
			fail(place, fd, "can not listen on %s: %s; choose another place with --socket",
			     place->address.path, strerror(-fd));
		else
			remember_file(place);
	}
	close(lock);
	return fd;
}

void place_init(struct place *place, struct log *log)
{
	*place = (struct place){.log = log, .socket = -1, .inotify = -1, .file_watch = -1, .directory_watch = -1};
}

int place_open(struct place *place, const struct qp_address *address)
{
	place->address = *address;
	int fd = take(place, LOCK_TRIES);

	if (fd < 0)
		return fd;
	place->socket = fd;
	return 0;
}

void place_take(struct place *place, const struct qp_address *address, int socket)
{
	place->address = *address;
	place->socket = socket;
	place->is_handed_over = true;
	remember_file(place);
}

void place_give_directory(const struct place *place, uid_t uid)
{
	char directory[QP_ADDRESS_BYTES + 1];

	qp_address_directory(&place->address, directory);
	if (place->has_made_directory && lchown(directory, uid, (gid_t)-1) == 0)
		return;
	if (!place->is_handed_over)
		log_write(place->log, LOG_LEVEL_INFO, "%s stays when qad ends; the next one replaces it",
			  place->address.path);
}

int place_check_reach(struct place *place, const char *user)
{
	struct stat status;

	if (place->is_handed_over || lstat(place->address.path, &status) == 0 || errno != EACCES)
		return 0;
	return fail(place, -EACCES,
		    "user %s may not enter the directory of %s: choose another with --socket, or remove it, and qad "
		    "makes one of theirs",
		    user, place->address.path);
}

/* Watching. */

static void unwatch(struct place *place, int *watch)
{
	if (*watch >= 0)
		inotify_rm_watch(place->inotify, *watch); /* fails when it went with what was watched */
	*watch = -1;
}

/* Watches what is there now. */
static void set_watches(struct place *place)
{
	char directory[QP_ADDRESS_BYTES + 1];

	if (place->inotify < 0)
		return;
	qp_address_directory(&place->address, directory);
	unwatch(place, &place->file_watch);
	unwatch(place, &place->directory_watch);
	place->file_watch = inotify_add_watch(place->inotify, place->address.path,
					      IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_DONT_FOLLOW);
	place->directory_watch =
		inotify_add_watch(place->inotify, directory, IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR);
}

static void on_timer(uv_timer_t *timer);

static void look_again_in(struct place *place, uint64_t ms)
{
	uv_timer_start(&place->timer, on_timer, ms, 0);
}

/* It is ours: nothing to do before inotify tells, if it can. */
static void rest(struct place *place)
{
	place->told = 0;
	if (place->file_watch >= 0 && place->directory_watch >= 0)
		uv_timer_stop(&place->timer);
	else
		look_again_in(place, AGAIN_MS);
}

static void take_again(struct place *place)
{
	if (place->told == 0)
		log_write(place->log, LOG_LEVEL_WARNING,
			  "%s was removed or replaced; who is connected stays, and qad listens there again if it can",
			  place->address.path);
	int fd = take(place, 1);
	if (fd < 0) {
		look_again_in(place, fd == -EADDRINUSE ? OTHER_MS : AGAIN_MS);
		return;
	}
	log_write(place->log, LOG_LEVEL_NOTICE, "listening on %s again", place->address.path);
	place->taken_ms = uv_now(place->timer.loop);
	place->on_taken(place->owner, fd);
	set_watches(place);
	if (is_ours(place))
		rest(place);
	else
		look_again_in(place, AGAIN_MS); /* it went while it was not watched yet */
}

static void look(struct place *place)
{
	if (is_ours(place)) {
		rest(place);
	} else if (place->is_handed_over) {
		fail(place, -ENOENT,
		     "%s was removed or replaced; who is connected stays, others find no qad until the socket's unit "
		     "is restarted (systemctl restart qad.socket)",
		     place->address.path);
		look_again_in(place, OTHER_MS);
	} else if (place->taken_ms + AGAIN_MS > uv_now(place->timer.loop)) {
		look_again_in(place, AGAIN_MS); /* somebody may remove it over and over */
	} else {
		take_again(place);
	}
}

static void on_timer(uv_timer_t *timer)
{
	look(timer->data);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	struct place *place = poll->data;
	char ignored[EVENTS_BYTES] __attribute__((aligned(__alignof__(struct inotify_event))));

	(void)status;
	(void)events;
	while (read(place->inotify, ignored, sizeof(ignored)) > 0)
		;
	if (!is_ours(place) && place->told == 0)
		look_again_in(place, GRACE_MS);
}

void place_watch(struct place *place, uv_loop_t *loop, void (*on_taken)(void *owner, int socket), void *owner)
{
	if (place->is_handed_over && place->inode == 0)
		return; /* it has no file, or one that is not seen from here */
	place->on_taken = on_taken;
	place->owner = owner;
	place->is_watched = true;
	uv_timer_init(loop, &place->timer);
	place->timer.data = place;
	place->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (place->inotify >= 0 && uv_poll_init(loop, &place->poll, place->inotify) != 0) {
		close(place->inotify);
		place->inotify = -1;
	}
	if (place->inotify >= 0) {
		place->poll.data = place;
		uv_poll_start(&place->poll, UV_READABLE, on_event);
	}
	set_watches(place);
	look(place);
}

void place_close(struct place *place)
{
	if (place->socket >= 0 && !place->is_handed_over && is_ours(place))
		unlink(place->address.path);
	if (place->is_watched)
		uv_close((uv_handle_t *)&place->timer, NULL);
	if (place->inotify >= 0) {
		uv_close((uv_handle_t *)&place->poll, NULL);
		close(place->inotify);
	}
	if (place->socket >= 0)
		close(place->socket);
	place->socket = place->inotify = -1;
	place->is_watched = false;
}
