/*
 * place.h - the socket's place in the file system: the directory, the name, and whether they are still ours.
 *
 * What was removed or replaced is noticed by inotify and taken anew at once, with a new socket; those who are connected
 * are not concerned. Where that can not be, because another program listens there or the directory can not be made,
 * qad says so once, goes on for those who are connected, and tries again: each half second, or each two seconds when
 * another program listens there.
 */
#ifndef QAD_PLACE_H
#define QAD_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <uv.h>

#include "address.h"
#include "log.h"

struct place {
	struct log *log;
	struct qp_address address;
	int socket; /* that listens; -1: none */
	bool has_made_directory;
	bool is_handed_over; /* the socket is the service manager's: its file is neither removed nor made again */
	dev_t device;        /* of the socket's file, to know it again */
	ino_t inode;
	int told; /* the error that the log has had; it is not told again and again */

	/* Once it is watched: */
	void (*on_taken)(void *owner, int socket);
	void *owner;
	bool is_watched;
	int inotify, file_watch, directory_watch; /* -1: none */
	uv_poll_t poll;
	uv_timer_t timer;
	uint64_t taken_ms;
};

/* Nothing taken yet; place_close is allowed from now on. */
void place_init(struct place *place, struct log *log);

/*
 * Listens at the address: makes the directory, replaces the socket of a qad that is gone. 0 or a negative errno, after
 * a line in the log that says what to do:
 *
 *   -EADDRINUSE  another qad is listening there, or the file there is no socket
 *   others       the directory or the socket can not be made
 */
int place_open(struct place *place, const struct qp_address *address);

/* The same with a socket that listens already, of the service manager. */
void place_take(struct place *place, const struct qp_address *address, int socket);

/*
 * For a qad that becomes another user: gives it the directory if qad made it, so that it can remove its socket at the
 * end. The file stays where it can not.
 */
void place_give_directory(const struct place *place, uid_t uid);

/* After that: 0, or -EACCES after a line in the log when that user can not get at the socket. */
int place_check_reach(struct place *place, const char *user);

/*
 * Watches the place from now on. When it was taken anew, on_taken is called with the new socket and has to make it
 * place->socket. Never fails: without inotify the place is looked at each half second.
 */
void place_watch(struct place *place, uv_loop_t *loop, void (*on_taken)(void *owner, int socket), void *owner);

/* Removes the file if it is still ours. Closes everything; the loop has to run its close callbacks. */
void place_close(struct place *place);

#endif
