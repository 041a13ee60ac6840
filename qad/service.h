/*
 * service.h - what the methods work with: the targets, the questions to them, and who may ask. And the clients.
 */
#ifndef QAD_SERVICE_H
#define QAD_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access.h"
#include "buffer.h"
#include "http_counters.h"
#include "log.h"
#include "peer.h"
#include "question.h"
#include "read.h"
#include "registry.h"
#include "watch.h"

struct service {
	uv_loop_t *loop;
	struct log *log;
	const struct limits *limits;
	const struct peers *peers;
	struct watching watching;
	uint64_t started_ms;
	size_t clients;
	struct access access;
	struct registry registry;
	struct questions questions;
	struct http_counters http;
	struct history total; /* of all targets together */
	struct qp_buffer out; /* where every frame to a client is built */
};

struct client {
	struct service *service;
	struct peer *peer;
	struct rights rights;
	struct list calls; /* struct call: requests without an answer yet */
	unsigned call_count;
	struct list watches;
	unsigned watch_count;
};

/*
 * A request that waits for targets; the first member of the method's own struct, which is heap memory. It ends with
 * call_finish after its answer, or with cancel when its client goes.
 */
struct call {
	struct list link;
	struct client *client;
	uint32_t id;
	size_t charged_bytes;
	void (*cancel)(struct call *call); /* forgets its waiters */
};

/*
 * Zeroed memory of size_bytes for a call, charged to the client's user and on the client's list. NULL when there is
 * none, or too much waits for this user: the client has been told.
 */
void *call_create(struct client *client, uint32_t id, size_t size_bytes, void (*cancel)(struct call *));
/* Takes it off the list and frees it. */
void call_finish(struct call *call);
/* For all calls of a client that is gone: cancel and finish. */
void call_cancel_all(struct client *client);

/* The empty buffer for the next frame, and its end: a large one gives its memory back. */
struct qp_buffer *service_begin_frame(struct service *service);
void service_end_frame(struct service *service);
/* Sends that frame; when it became too large, or memory ran out, the error `failed` instead. */
void service_send_frame(struct client *client, uint32_t id);
/* Answers with an error. */
void service_send_error(struct client *client, uint32_t id, const char *code, const char *message);

#endif
