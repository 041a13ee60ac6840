/*
 * A blocking client with overall deadlines: each wait is a poll for what is left of the time, so that a qad that
 * trickles bytes is no better off than a silent one. connect(2) on a Unix socket can not be polled for; its deadline is
 * SO_SNDTIMEO. Of the usual addresses the one below /tmp needs suspicion: anybody could have made that directory before
 * the user did.
 */
#include "client.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"
#include "protocol.h"
#include "text.h"
#include "write.h"

enum { READ_BYTES = 64 << 10, WAY_MS = 1000, DAY_MS = 86400 * 1000 };

int64_t client_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void client_init(struct client *client)
{
	memset(client, 0, sizeof(*client));
	client->fd = -1;
	client->stop_fd = -1;
	client->stats_ms = QP_STATS_TIMEOUT_MS + WAY_MS;
	client->trim_ms = QP_TRIM_TIMEOUT_MS + WAY_MS;
	qp_buffer_init(&client->in, QP_FRAME_ANSWER_BYTES + READ_BYTES);
	qp_buffer_init(&client->out, (size_t)QP_FRAME_CLIENT_BYTES * QP_REQUESTS_OF_CLIENT);
}

static void drop_message(struct client *client)
{
	if (client->message_bytes == 0)
		return;
	qp_message_finish(&client->message);
	qp_buffer_consume(&client->in, client->message_bytes);
	client->message_bytes = 0;
}

void client_finish(struct client *client)
{
	drop_message(client);
	qp_buffer_finish(&client->in);
	qp_buffer_finish(&client->out);
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

const char *client_path(const struct client *client)
{
	return client->attempt_count ? client->attempts[client->attempt_count - 1].address.path : "";
}

/* Returns the descriptor or a negative errno; -EAGAIN when the other side does not accept in time. */
static int connect_to(const struct qp_address *address, bool at_once)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct timeval timeout = {.tv_sec = CLIENT_CONNECT_MS / 1000};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (at_once ? SOCK_NONBLOCK : 0), 0);
	int error;

	if (fd < 0)
		return -errno;
	strcpy(name.sun_path, address->path);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

static int connect_first(struct client *client, const struct qp_address *addresses, int count, bool at_once)
{
	for (int i = 0; i < count; i++) {
		struct client_attempt *attempt = &client->attempts[client->attempt_count++];

		attempt->address = addresses[i];
		if (!client->is_address_chosen)
			attempt->error = qp_address_check_directory(&addresses[i]);
		if (attempt->error < 0)
			continue;
		client->fd = connect_to(&addresses[i], at_once);
		if (client->fd >= 0)
			return 0;
		attempt->error = client->fd;
	}
	return -ENOTCONN;
}

/* hello is refused: a connection too many, a protocol that is not spoken, or something that is no qad. */
static int keep_refusal(struct client *client, const struct qp_message *message)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	char text[sizeof(client->refusal) / 4], code[32];

	qp_read_string_or(&reader, "message", text, sizeof(text), "hello is refused");
	text_escape(client->refusal, sizeof(client->refusal), text);
	client->detail = client->refusal;
	qp_read_string_or(&reader, "code", code, sizeof(code), "");
	return strcmp(code, "busy") == 0 ? -EBUSY : -EPROTO;
}

uint32_t client_begin_hello(struct client *client)
{
	struct qp_buffer *out;
	uint32_t id;

	out = client_begin(client, "hello", &id);
	qp_write_map(out, 3);
	qp_write_key_u64(out, "protocol", QP_PROTOCOL);
	qp_write_key_string(out, "role", "client");
	qp_write_key_string(out, "version", QA_VERSION_TEXT);
	return id;
}

/* What is missing or no deadline of qad's is what it is by default. */
static int read_wait_ms(struct qp_reader *reader, const char *key, unsigned usual_ms)
{
	uint64_t deadline_ms = qp_read_u64_or(reader, key, usual_ms);

	return (int)(deadline_ms <= DAY_MS ? deadline_ms : usual_ms) + WAY_MS;
}

int client_take_hello(struct client *client, const struct qp_message *message)
{
	struct qp_reader reader = qp_reader_of(&message->body);

	if (message->has_error)
		return keep_refusal(client, message);
	client->stats_ms = read_wait_ms(&reader, "stats_ms", QP_STATS_TIMEOUT_MS);
	client->trim_ms = read_wait_ms(&reader, "trim_ms", QP_TRIM_TIMEOUT_MS);
	return 0;
}

int client_connect(struct client *client, const char *socket_path, bool at_once)
{
	struct qp_address addresses[QP_ADDRESSES];
	int count = 1, error;

	client->is_option = socket_path != NULL;
	if (socket_path) {
		error = qp_address_set(&addresses[0], socket_path);
		if (error < 0)
			return error;
	} else {
		count = qp_address_candidates(addresses);
		if (count < 0)
			return count;
	}
	/* The usual addresses are always several. */
	client->is_address_chosen = count == 1;
	return connect_first(client, addresses, count, at_once);
}

int client_open(struct client *client, const char *socket_path)
{
	const struct qp_message *message;
	int error = client_connect(client, socket_path, false);

	if (error < 0)
		return error;
	error = client_ask(client, client_begin_hello(client), CLIENT_CONNECT_MS, &message);
	return error < 0 ? error : client_take_hello(client, message);
}

struct qp_buffer *client_begin(struct client *client, const char *method, uint32_t *id)
{
	*id = ++client->last_id;
	qp_write_request(&client->out, *id, method);
	return &client->out;
}

static int wait_until(const struct client *client, short events, int64_t deadline_ms)
{
	for (;;) {
		/* poll(2) passes over negative descriptors. Of stdout only errors matter, which come unasked. */
		struct pollfd pollers[] = {
			{.fd = client->fd, .events = events},
			{.fd = client->stop_fd, .events = POLLIN},
			{.fd = client->stops_with_output ? STDOUT_FILENO : -1},
		};
		int64_t left_ms = deadline_ms - client_clock_ms();
		int ready;

		if (left_ms <= 0)
			return -ETIMEDOUT;
		ready = poll(pollers, 3, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
		if (ready > 0 && pollers[1].revents)
			return -ECANCELED;
		if (ready > 0 && pollers[2].revents & (POLLERR | POLLHUP))
			return -EPIPE;
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_all(struct client *client, int64_t deadline_ms)
{
	struct qp_buffer *out = &client->out;

	if (out->failed)
		return -ENOMEM;
	while (out->used_bytes > 0) {
		ssize_t sent = send(client->fd, out->data, out->used_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
		int error = 0;

		if (sent >= 0)
			qp_buffer_consume(out, (size_t)sent);
		else if (errno == EAGAIN)
			error = wait_until(client, POLLOUT, deadline_ms);
		else if (errno == EPIPE)
			return 0; /* what the other side said before it closed is still to be read */
		else if (errno != EINTR)
			error = -errno;
		if (error < 0)
			return error;
	}
	return 0;
}

/* Reads what has come: -EAGAIN when nothing has. */
static int read_some(struct client *client)
{
	uint8_t *space = qp_buffer_reserve(&client->in, READ_BYTES);
	ssize_t received;

	if (!space)
		return -ENOMEM;
	received = recv(client->fd, space, READ_BYTES, MSG_DONTWAIT);
	if (received == 0)
		return -ECONNRESET;
	if (received < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	client->in.used_bytes += (size_t)received;
	return 0;
}

static int read_more(struct client *client, int64_t deadline_ms)
{
	int error = wait_until(client, POLLIN, deadline_ms);

	if (error == 0)
		error = read_some(client);
	return error == -EAGAIN ? 0 : error;
}

/* Takes the frame at the front of the buffer: 1, or 0 when it is not wanted, or a negative errno. */
static int take_frame(struct client *client, size_t frame_bytes)
{
	int error = qp_message_decode(&client->message, client->in.data, frame_bytes);

	if (error < 0) {
		client->detail = "a frame is no message";
		return error == -ENOMEM ? error : -EPROTO;
	}
	client->message_bytes = frame_bytes;
	if (client->message.kind == QP_RESPONSE ||
	    (client->message.kind == QP_NOTIFICATION && client->takes_notifications))
		return 1;
	drop_message(client);
	return 0;
}

/* The next message among what was read: 1, or 0 when more has to be read, or a negative errno. */
static int next_message(struct client *client)
{
	int taken = 0;

	while (taken == 0) {
		size_t frame_bytes = 0;
		enum qp_frame frame =
			qp_frame_scan(client->in.data, client->in.used_bytes, QP_FRAME_ANSWER_BYTES, &frame_bytes);

		if (frame == QP_FRAME_PART)
			return 0;
		if (frame < 0) {
			client->detail = qp_frame_text(frame);
			return -EPROTO;
		}
		taken = take_frame(client, frame_bytes);
	}
	return taken;
}

int client_receive(struct client *client, int64_t deadline_ms, const struct qp_message **message)
{
	int error;

	drop_message(client);
	error = send_all(client, deadline_ms);
	while (error == 0) {
		error = next_message(client);
		if (error == 0)
			error = read_more(client, deadline_ms);
	}
	if (error < 0)
		return error;
	*message = &client->message;
	return 0;
}

int client_receive_now(struct client *client, const struct qp_message **message)
{
	int error;

	drop_message(client);
	error = send_all(client, 0);
	if (error == -ETIMEDOUT)
		error = 0; /* the rest waits in the buffer */
	while (error == 0) {
		error = next_message(client);
		if (error == 0)
			error = read_some(client);
	}
	if (error < 0)
		return error;
	*message = &client->message;
	return 0;
}

int client_ask(struct client *client, uint32_t id, int timeout_ms, const struct qp_message **message)
{
	int error;

	client->waited_ms = timeout_ms;
	error = client_receive(client, client_clock_ms() + timeout_ms, message);
	if (error == 0 && (*message)->id != id) {
		client->detail = "it answers what was not asked";
		error = -EPROTO;
	}
	return error;
}
