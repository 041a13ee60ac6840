/*
 * Reads go into one area that all peers share: nearly always it holds whole frames, which are handled there, so that
 * an idle connection has no buffer. Only the rest of a frame that is not whole moves to the peer. The scan tells
 * how many bytes such a frame needs at least; until they are here it is not scanned again, so that a peer that
 * sends byte by byte does not make qad scan a megabyte for each.
 *
 * A peer whose turn is over (turn.h) may have whole frames left; those are kept too, and handled when it goes on.
 *
 * Who connects and says nothing has time for hello, but no right to places that others need: of a user who has many
 * such connections the oldest go. None of another user's has to wait for them.
 */
#include "peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "frame.h"
#include "protocol.h"

#define READ_AREA_BYTES (64u << 10)
#define MUTE_MS 100u /* an agent says hello as soon as it is connected */

static const char *role_name(enum peer_role role)
{
	return role == PEER_TARGET ? "target" : role == PEER_CLIENT ? "client" : "peer before hello";
}

static size_t frame_limit_bytes(const struct peer *peer)
{
	const struct limits *limits = peer->peers->limits;

	return peer->role == PEER_TARGET   ? limits->frame_target_bytes
	       : peer->role == PEER_CLIENT ? limits->frame_client_bytes
					   : limits->hello_bytes;
}

/* The account always covers what the buffer holds. */
static bool charge_input(struct peer *peer)
{
	size_t bytes = peer->in.capacity_bytes;

	account_refund(peer->account, peer->charged_bytes);
	peer->charged_bytes = 0;
	if (!account_charge(peer->account, bytes))
		return false;
	peer->charged_bytes = bytes;
	return true;
}

static void leave_before_hello(struct peer *peer)
{
	if (peer->role != PEER_NEW)
		return;
	deadline_stop(&peer->peers->hello_deadlines, &peer->hello_deadline);
	list_remove(&peer->of_mute);
	peer->account->before_hello--;
	peer->peers->before_hello--;
}

static void on_closed(uv_handle_t *handle)
{
	struct peer *peer = handle->data;
	struct peers *peers = peer->peers;

	peers->events->gone(peer);
	list_remove(&peer->link);
	peers->count--;
	qp_buffer_finish(&peer->in);
	charge_input(peer);
	account_release(peer->account);
	free(peer);
	peers->events->room(peers->owner);
}

static void begin_close(struct peer *peer)
{
	peer->closing = true;
	turn_forget(&peer->turn);
	leave_before_hello(peer);
	if (peer->role != PEER_NEW) {
		peer->account->connections--;
		peer->peers->connections--;
	}
	uv_close((uv_handle_t *)&peer->pipe, on_closed);
}

void peer_end(struct peer *peer, const char *reason)
{
	if (peer->closing)
		return;
	log_write(peer->peers->log, peer->role == PEER_TARGET ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG,
		  "%s %d of uid %u left: %s", role_name(peer->role), (int)peer->who.pid, (unsigned)peer->who.uid,
		  reason);
	begin_close(peer);
}

void peer_drop(struct peer *peer, const char *reason)
{
	if (peer->closing)
		return;
	log_fault(peer->peers->log, uv_now(peer->peers->loop), "dropped %s %d of uid %u: %s", role_name(peer->role),
		  (int)peer->who.pid, (unsigned)peer->who.uid, reason);
	peer->peers->dropped++;
	begin_close(peer);
}

static void handle_frame(struct peer *peer, const uint8_t *frame, size_t bytes)
{
	struct qp_message message;
	int error = qp_message_decode(&message, frame, bytes);

	if (error != 0) {
		peer_drop(peer, error == -ENOMEM ? "out of memory" : "its frame is not a message of the protocol");
		return;
	}
	peer->peers->events->message(peer, &message);
	qp_message_finish(&message);
}

/*
 * Handles whole frames from the front, until the turn is over. Returns how many bytes they had; the peer may be closing
 * then.
 */
static size_t handle_frames(struct peer *peer, const uint8_t *data, size_t bytes)
{
	size_t offset = 0;

	while (offset < bytes && !peer->closing) {
		size_t limit = frame_limit_bytes(peer);
		size_t size = 0;
		enum qp_frame frame = qp_frame_scan(data + offset, bytes - offset, limit, &size);

		if (frame == QP_FRAME_PART) {
			peer->in_needs_bytes = size;
			break;
		}
		if (frame != QP_FRAME_WHOLE) {
			char reason[128];

			snprintf(reason, sizeof(reason), "its frame is %s (limit %zu bytes)", qp_frame_text(frame),
				 limit);
			peer_drop(peer, reason);
			break;
		}
		handle_frame(peer, data + offset, size);
		offset += size;
		peer->in_needs_bytes = 1;
		if (turn_is_over(&peer->turn))
			break;
	}
	return offset;
}

/* Keeps bytes behind those that already wait. */
static void keep(struct peer *peer, const uint8_t *data, size_t bytes)
{
	/* A part is shorter than the limit of its role; one read more may come before it is looked at. */
	peer->in.limit_bytes = frame_limit_bytes(peer) + READ_AREA_BYTES;
	qp_buffer_append(&peer->in, data, bytes);
	if (peer->in.failed)
		peer_drop(peer, "out of memory");
	else if (!charge_input(peer))
		peer_drop(peer, "too much waits for this user");
}

static void handle_kept(struct peer *peer)
{
	qp_buffer_consume(&peer->in, handle_frames(peer, peer->in.data, peer->in.used_bytes));
	if (peer->in.used_bytes == 0) {
		qp_buffer_finish(&peer->in);
		charge_input(peer);
	}
}

static void take_bytes(struct peer *peer, const uint8_t *data, size_t bytes)
{
	if (peer->in.used_bytes == 0) {
		size_t handled = handle_frames(peer, data, bytes);

		if (handled < bytes && !peer->closing)
			keep(peer, data + handled, bytes - handled);
		return;
	}

	keep(peer, data, bytes);
	if (!peer->closing && peer->in.used_bytes >= peer->in_needs_bytes)
		handle_kept(peer);
}

static void on_alloc(uv_handle_t *handle, size_t suggested_bytes, uv_buf_t *buffer)
{
	struct peer *peer = handle->data;

	(void)suggested_bytes;
	*buffer = uv_buf_init(peer->peers->read_area, READ_AREA_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buffer)
{
	struct peer *peer = stream->data;

	if (bytes < 0)
		peer_end(peer, bytes == UV_EOF ? "it closed the connection" : uv_strerror((int)bytes));
	if (bytes <= 0)
		return;
	turn_begin(&peer->turn);
	take_bytes(peer, (const uint8_t *)buffer->base, (size_t)bytes);
	if (!peer->closing && turn_end(&peer->peers->turns, &peer->turn))
		uv_read_stop(stream);
}

/* It has rested. */
static void go_on(struct turn *turn)
{
	struct peer *peer = LIST_OWNER(turn, struct peer, turn);

	turn_begin(turn);
	if (peer->in.used_bytes > 0 && peer->in.used_bytes >= peer->in_needs_bytes)
		handle_kept(peer);
	if (peer->closing || turn_end(&peer->peers->turns, turn))
		return;
	int error = uv_read_start((uv_stream_t *)&peer->pipe, on_alloc, on_read);
	if (error != 0)
		peer_drop(peer, uv_strerror(error));
}

static void on_hello_due(struct deadline_queue *queue, struct deadline *entry)
{
	(void)queue;
	peer_drop(LIST_OWNER(entry, struct peer, hello_deadline), "no hello in time");
}

/*
 * Whether it had time to say hello. What it said may not have been read yet, when qad was stopped or had much to do;
 * who rests has said something else.
 */
static bool is_mute(const struct peer *peer)
{
	uint64_t accepted_ms = peer->hello_deadline.due_ms - peer->peers->limits->hello_ms;
	int bytes = 0;

	if (uv_now(peer->peers->loop) - accepted_ms < MUTE_MS)
		return false;
	return turn_is_resting(&peer->turn) || (ioctl(peer->socket, FIONREAD, &bytes) == 0 && bytes == 0);
}

/* Before one more of that user. Those who say hello at once, however many at a time, lose none. */
static void make_room(struct peers *peers, struct account *account)
{
	struct peer *oldest;

	if (account->before_hello < peers->limits->before_hello)
		return;
	oldest = LIST_OWNER(account->mute.next, struct peer, of_mute);
	if (is_mute(oldest))
		peer_drop(oldest, "too many connections of its user have not said hello");
	else if (account->before_hello >= peers->limits->before_hello + peers->limits->connections_of_user)
		peer_drop(oldest, "its user has too many connections");
}

void peer_set_role(struct peer *peer, enum peer_role role)
{
	leave_before_hello(peer);
	peer->role = role;
	peer->account->connections++;
	peer->peers->connections++;
}

int peer_create(struct peers *peers, int socket)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	int error = -ENOMEM;

	if (peer == NULL)
		goto fail;
	error = identity_of_socket(socket, &peer->who);
	if (error != 0)
		goto fail;
	error = -ENOMEM;
	peer->account = account_acquire(&peers->accounts, peer->who.uid);
	if (peer->account == NULL)
		goto fail;

	peer->peers = peers;
	peer->socket = socket;
	qp_buffer_init(&peer->in, peers->limits->hello_bytes);
	deadline_init(&peer->hello_deadline);
	turn_init(&peer->turn, peer->account);
	uv_pipe_init(peers->loop, &peer->pipe, 0);
	peer->pipe.data = peer;
	list_append(&peers->all, &peer->link);
	peers->count++;
	make_room(peers, peer->account);
	list_init(&peer->of_mute);
	list_append(&peer->account->mute, &peer->of_mute);
	peer->account->before_hello++;
	peers->before_hello++;
	deadline_start(&peers->hello_deadlines, &peer->hello_deadline);

	error = uv_pipe_open(&peer->pipe, socket);
	if (error != 0)
		close(socket); /* still ours */
	else
		error = uv_read_start((uv_stream_t *)&peer->pipe, on_alloc, on_read);
	if (error != 0)
		peer_drop(peer, uv_strerror(error));
	return 0;

fail:
	if (peer != NULL)
		account_release(peer->account);
	free(peer);
	close(socket);
	return error;
}

int peers_init(struct peers *peers, uv_loop_t *loop, struct log *log, const struct limits *limits,
	       const struct peer_events *events, void *owner)
{
	*peers = (struct peers){.loop = loop, .log = log, .limits = limits, .events = events, .owner = owner};
	peers->read_area = malloc(READ_AREA_BYTES);
	if (peers->read_area == NULL)
		return -ENOMEM;
	list_init(&peers->all);
	accounts_init(&peers->accounts, limits->memory_of_user_bytes);
	deadline_queue_init(&peers->hello_deadlines, loop, limits->hello_ms, on_hello_due);
	turns_init(&peers->turns, loop, go_on);
	return 0;
}

void peers_close(struct peers *peers, const char *reason)
{
	for (struct list *link = peers->all.next; link != &peers->all; link = link->next)
		peer_end(LIST_OWNER(link, struct peer, link), reason);
	deadline_queue_close(&peers->hello_deadlines);
	turns_close(&peers->turns);
}

void peers_finish(struct peers *peers)
{
	free(peers->read_area);
	peers->read_area = NULL;
}
