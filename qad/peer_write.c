/*
 * A connection's output. Writes go to the socket at once where possible; what the kernel does not take is copied into a
 * write request, but for a body, which several connections share. The sum of those is the output queue, and it is
 * bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "peer.h"

/* What waits: a copy, and behind it the end of a body. */
struct write {
	uv_write_t request;
	struct peer *peer;
	size_t charged_bytes; /* to the peer's account */
	struct body *body;    /* or NULL */
	uint8_t data[];
};

static size_t queue_limit_bytes(const struct peer *peer)
{
	const struct limits *limits = peer->peers->limits;

	return peer->role == PEER_CLIENT ? limits->queue_client_bytes : limits->queue_target_bytes;
}

static void destroy_write(struct write *write)
{
	account_refund(write->peer->account, write->charged_bytes);
	body_release(write->body);
	free(write);
}

static void on_written(uv_write_t *request, int status)
{
	struct write *write = request->data;
	struct peer *peer = write->peer;

	destroy_write(write);
	if (status < 0 && status != UV_ECANCELED)
		peer_end(peer, uv_strerror(status));
	else if (!peer->closing && peer->role == PEER_CLIENT && !peer_has_output(peer))
		peer->peers->events->drained(peer);
}

/* A write with a copy of the bytes and a reference to the body, if there is one; NULL: why, in reason. */
static struct write *create_write(struct peer *peer, const uint8_t *data, size_t bytes, struct body *body,
				  const char **reason)
{
	struct write *write = malloc(sizeof(*write) + bytes);
	size_t body_bytes = 0;

	*reason = "out of memory";
	if (write == NULL)
		return NULL;
	*reason = "too much waits for this user";
	if (!account_charge(peer->account, bytes))
		goto fail;
	if (body != NULL && !body_share(body, peer->account, &body_bytes))
		goto refund;
	*write = (struct write){.peer = peer, .charged_bytes = bytes + body_bytes, .body = body};
	write->request.data = write;
	if (bytes > 0)
		memcpy(write->data, data, bytes);
	return write;

refund:
	account_refund(peer->account, bytes);
fail:
	free(write);
	return NULL;
}

/* What of the two is behind the bytes that are written. */
static void queue_output(struct peer *peer, const uv_buf_t buffers[2], size_t written, struct body *body)
{
	size_t frame_done = written < buffers[0].len ? written : buffers[0].len, body_done = written - frame_done;
	size_t frame_bytes = buffers[0].len - frame_done, body_bytes = buffers[1].len - body_done;
	const char *reason;

	if (uv_stream_get_write_queue_size((uv_stream_t *)&peer->pipe) + frame_bytes + body_bytes >
	    queue_limit_bytes(peer)) {
		peer_drop(peer, "it does not read its answers");
		return;
	}

	const uint8_t *frame_rest = (const uint8_t *)buffers[0].base + frame_done;
	struct write *write = create_write(peer, frame_rest, frame_bytes, body, &reason);
	if (write == NULL) {
		peer_drop(peer, reason);
		return;
	}

	uv_buf_t rest[2] = {uv_buf_init((char *)write->data, (unsigned)frame_bytes),
			    uv_buf_init(buffers[1].base + body_done, (unsigned)body_bytes)};
	unsigned skipped = frame_bytes == 0, last = body_bytes == 0;
	int error =
		uv_write(&write->request, (uv_stream_t *)&peer->pipe, rest + skipped, 2 - skipped - last, on_written);
	if (error != 0) {
		destroy_write(write);
		peer_end(peer, uv_strerror(error));
	}
}

void peer_send_with(struct peer *peer, const struct qp_buffer *frame, struct body *body)
{
	if (peer->closing)
		return;

	uv_buf_t buffers[2] = {uv_buf_init((char *)frame->data, (unsigned)frame->used_bytes), {0}};
	if (body != NULL)
		buffers[1] = uv_buf_init((char *)body->bytes.data, (unsigned)body->bytes.used_bytes);
	int written = uv_try_write((uv_stream_t *)&peer->pipe, buffers, buffers[1].len > 0 ? 2 : 1);
	if (written == UV_EAGAIN)
		written = 0;
	if (written < 0)
		peer_end(peer, uv_strerror(written));
	else if ((size_t)written < buffers[0].len + buffers[1].len)
		queue_output(peer, buffers, (size_t)written, body);
}

void peer_send(struct peer *peer, const struct qp_buffer *frame)
{
	peer_send_with(peer, frame, NULL);
}

bool peer_has_output(const struct peer *peer)
{
	return uv_stream_get_write_queue_size((const uv_stream_t *)&peer->pipe) > 0;
}
