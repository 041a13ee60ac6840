/*
 * peer.h - one connection: reads frames, writes frames, ends. What the frames mean is for the layer above, which
 * is called through struct peer_events.
 *
 * A peer ends in two steps, so that nobody has to expect it to vanish in the middle of their own work:
 *
 *   peer_drop    marks it as closing. No frame is read or written from then on; the memory stays.
 *   gone event   comes later, from the loop, and is the place to forget it. The memory is freed after it.
 */
#ifndef QAD_PEER_H
#define QAD_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "account.h"
#include "buffer.h"
#include "deadline.h"
#include "limit.h"
#include "list.h"
#include "log.h"
#include "process.h"
#include "read.h"
#include "turn.h"

enum peer_role { PEER_NEW, PEER_CLIENT, PEER_TARGET };

struct body;
struct peer;

struct peer_events {
	/* A whole message came. Valid during the call. */
	void (*message)(struct peer *peer, struct qp_message *message);
	/* The connection is closed; the last moment to use the peer. */
	void (*gone)(struct peer *peer);
	/* All that waited for a client is written. */
	void (*drained)(struct peer *peer);
	/* There may be room for another connection. */
	void (*room)(void *owner);
};

/* All connections, and what they share. */
struct peers {
	uv_loop_t *loop;
	struct log *log;
	const struct limits *limits;
	const struct peer_events *events;
	void *owner; /* for the layer above */
	struct list all;
	size_t count;                     /* also of those that are closing */
	size_t before_hello, connections; /* not closing; connections: after hello */
	bool is_short;                    /* of descriptors, says listen.c */
	struct accounts accounts;
	struct deadline_queue hello_deadlines;
	struct turns turns;
	uint64_t dropped; /* peers, for a fault of theirs */
	char *read_area;  /* a read goes here first; only a part of a frame is kept in the peer */
};

struct peer {
	uv_pipe_t pipe;
	struct peers *peers;
	struct list link;
	struct identity who;
	struct account *account;
	enum peer_role role;
	int socket;
	bool closing;
	struct deadline hello_deadline;
	struct list of_mute; /* in account->mute, before hello */
	struct turn turn;
	struct qp_buffer in; /* the part of a frame that came, or what its turn had no time for; else without memory */
	size_t in_needs_bytes; /* there is no whole frame before that many */
	size_t charged_bytes;  /* to the account, for in */
	void *user;            /* of the layer above: struct client or struct target once it has a role */
};

/* 0 or -ENOMEM. */
int peers_init(struct peers *peers, uv_loop_t *loop, struct log *log, const struct limits *limits,
	       const struct peer_events *events, void *owner);
/* Drops every peer and closes the timer. */
void peers_close(struct peers *peers, const char *reason);
/* After the loop has run the close callbacks. */
void peers_finish(struct peers *peers);

/*
 * Takes a connected, non-blocking socket, also when it fails: 0 or a negative errno. The peer says hello within the
 * time allowed, or is dropped.
 */
int peer_create(struct peers *peers, int socket);

/* After a good hello: the limits of its role hold from now on. */
void peer_set_role(struct peer *peer, enum peer_role role);

/*
 * Writes a whole frame, at once or later; copies what has to wait. When more waits than the role allows, or without
 * memory, the peer is dropped. Does nothing when it is closing.
 */
void peer_send(struct peer *peer, const struct qp_buffer *frame);
/* The same for a frame that ends with a body, which has to wait without a copy. */
void peer_send_with(struct peer *peer, const struct qp_buffer *frame, struct body *body);

/* Whether some of what was sent still waits. */
bool peer_has_output(const struct peer *peer);

/* The same for an ordinary end (no warning in the log) and for a fault of the peer. Again: does nothing. */
void peer_end(struct peer *peer, const char *reason);
void peer_drop(struct peer *peer, const char *reason);

#endif
