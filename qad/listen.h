/*
 * listen.h - the socket at which qad is reached: accepts at the place in the file system that place.h takes.
 *
 * Accepting pauses while descriptors are out; who connects meanwhile waits in the kernel's queue.
 */
#ifndef QAD_LISTEN_H
#define QAD_LISTEN_H

#include <stdbool.h>

#include <uv.h>

#include "log.h"
#include "peer.h"
#include "place.h"

struct listener {
	struct peers *peers;
	struct log *log;
	struct place place; /* to be opened or taken before listener_start */
	int spare;          /* held so that /proc can still be read when descriptors are out; -1 while that is so */
	uv_poll_t poll;
	uv_timer_t retry; /* runs only while descriptors are out */
	bool is_watching;
	bool is_short;      /* of descriptors, and that is not yet over */
	bool is_short_told; /* in the log */
};

/* Not listening yet; listener_close is allowed from now on. */
void listener_init(struct listener *listener, struct log *log);

/* Accepts from now on. 0 or a negative errno, after a line in the log. */
int listener_start(struct listener *listener, uv_loop_t *loop, struct peers *peers);

/* There may be room for a connection again. */
void listener_on_room(struct listener *listener);

/* Leaves the place, and closes. After listener_start the loop has to run its close callbacks. */
void listener_close(struct listener *listener);

#endif
