/*
 * listen.h - the socket at which qad is reached: takes its place in the file system, and accepts.
 *
 * Accepting pauses while the peers have too many before hello, or while descriptors are out; who connects meanwhile
 * waits in the kernel's queue.
 */
#ifndef QAD_LISTEN_H
#define QAD_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include <uv.h>

#include "address.h"
#include "log.h"
#include "peer.h"

struct listener {
	struct peers *peers;
	struct log *log;
	struct qp_address address;
	int socket;
	bool has_made_directory;
	int spare;    /* held so that /proc can still be read when descriptors are out; -1 while that is so */
	dev_t device; /* of the socket's file, to know it again */
	ino_t inode;
	uv_poll_t poll;
	uv_timer_t retry;    /* runs only while descriptors are out */
	bool is_handed_over; /* the socket is the service manager's: its file is not removed */
	bool is_watching;
	bool is_short; /* of descriptors: told, and not yet over */
};

/* Not listening yet; listener_close is allowed from now on. */
void listener_init(struct listener *listener, struct log *log);

/*
 * Listens at the address: makes the directory, replaces the socket of a qad that is gone. 0 or a negative errno, after
 * a line in the log that says what to do:
 *
 *   -EADDRINUSE  another qad is listening there, or the file there is no socket
 *   others       the directory or the socket can not be made
 */
int listener_open(struct listener *listener, const struct qp_address *address);

/* The same with a socket that listens already, of the service manager. */
void listener_take(struct listener *listener, const struct qp_address *address, int socket);

/*
 * For a qad that becomes another user: gives it the directory if qad made it, so that it can remove its socket at the
 * end. The file stays where it can not.
 */
void listener_give_directory(const struct listener *listener, uid_t uid);

/* Accepts from now on. 0 or a negative errno, after a line in the log. */
int listener_start(struct listener *listener, uv_loop_t *loop, struct peers *peers);

/* There may be room for a connection again. */
void listener_on_room(struct listener *listener);

/* Removes the file if it is still ours, and closes. After listener_start the loop has to run its close callbacks. */
void listener_close(struct listener *listener);

#endif
