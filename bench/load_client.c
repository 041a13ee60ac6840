/*
 * Clients do as little as they can, since they share the machine with what is measured: a frame is scanned and counted,
 * not decoded.
 */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "frame.h"
#include "protocol.h"
#include "write.h"

enum { READ_BYTES = 256 << 10, WAIT_MS = 60000 };

void load_client_open(struct load_client *client, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t frame_bytes;

	*client = (struct load_client){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		load_die("can not connect to qad");
	qp_buffer_init(&client->in, 2 * QP_FRAME_ANSWER_BYTES);
	qp_buffer_init(&client->out, QP_FRAME_CLIENT_BYTES);
	qp_write_request(&client->out, ++client->last_id, "hello");
	qp_write_map(&client->out, 2);
	qp_write_key_u64(&client->out, "protocol", QP_PROTOCOL);
	qp_write_key_string(&client->out, "role", "client");
	load_client_send(client);
	load_client_wait(client, &frame_bytes);
	qp_buffer_consume(&client->in, frame_bytes);
}

void load_client_close(struct load_client *client)
{
	close(client->fd);
	qp_buffer_finish(&client->in);
	qp_buffer_finish(&client->out);
}

void load_client_send(struct load_client *client)
{
	if (client->out.failed ||
	    send(client->fd, client->out.data, client->out.used_bytes, MSG_NOSIGNAL) != (ssize_t)client->out.used_bytes)
		load_die("can not write to qad");
	qp_buffer_reset(&client->out);
}

/* False: nothing is there now. */
static bool read_some(struct load_client *client)
{
	uint8_t *space = qp_buffer_reserve(&client->in, READ_BYTES);

	if (space == NULL)
		load_die("out of memory, or a frame that is too large");
	ssize_t bytes = recv(client->fd, space, READ_BYTES, MSG_DONTWAIT);
	if (bytes > 0)
		client->in.used_bytes += (size_t)bytes;
	else if (bytes == 0 || (errno != EAGAIN && errno != EINTR))
		load_die("qad ended the connection");
	return bytes > 0;
}

/* The whole frame at the front, or 0. */
static size_t whole_frame(const struct load_client *client)
{
	size_t bytes = 0;
	enum qp_frame frame = qp_frame_scan(client->in.data, client->in.used_bytes, QP_FRAME_ANSWER_BYTES, &bytes);

	if (frame < 0)
		load_die("qad's frame is not understood");
	return frame == QP_FRAME_WHOLE ? bytes : 0;
}

static bool is_response(const struct load_client *client)
{
	return client->in.data[0] == 0x94 && client->in.data[1] == 1;
}

void load_client_wait(struct load_client *client, size_t *frame_bytes)
{
	while (true) {
		size_t bytes = whole_frame(client);

		if (bytes > 0 && is_response(client)) {
			*frame_bytes = bytes;
			return;
		}
		if (bytes > 0) {
			client->notifications++;
			qp_buffer_consume(&client->in, bytes);
			continue;
		}
		struct pollfd poller = {.fd = client->fd, .events = POLLIN};
		if (poll(&poller, 1, WAIT_MS) == 0)
			load_die("qad does not answer");
		read_some(client);
	}
}

void load_client_drain(struct load_client *client)
{
	size_t bytes;

	read_some(client);
	while ((bytes = whole_frame(client)) > 0) {
		client->notifications += !is_response(client);
		qp_buffer_consume(&client->in, bytes);
	}
}
