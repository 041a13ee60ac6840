/*
 * A connection always has one deadline: for its first request, for the end of an answer, or for the next request.
 * libmicrohttpd knows only a time without any byte, which a peer can stretch for ever. What is due is shut down, and
 * libmicrohttpd then closes it as if the peer had.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "http_core.h"

struct connection {
	struct http *http;
	struct deadline_queue *queue; /* in which the deadline is */
	struct deadline deadline;
	int socket;
	bool is_excess;
};

static void on_due(struct deadline_queue *queue, struct deadline *entry)
{
	struct connection *connection = LIST_OWNER(entry, struct connection, deadline);

	(void)queue;
	connection->http->counters->timeouts++;
	shutdown(connection->socket, SHUT_RDWR);
}

void http_connections_init(struct http *http)
{
	uv_loop_t *loop = http->service->loop;

	deadline_queue_init(&http->request_deadlines, loop, http->limits->http_request_ms, on_due);
	deadline_queue_init(&http->idle_deadlines, loop, http->limits->http_idle_ms, on_due);
	deadline_queue_init(&http->answer_deadlines, loop, http->limits->http_answer_ms, on_due);
}

void http_connections_close(struct http *http)
{
	deadline_queue_close(&http->request_deadlines);
	deadline_queue_close(&http->idle_deadlines);
	deadline_queue_close(&http->answer_deadlines);
}

static void move_to(struct connection *connection, struct deadline_queue *queue)
{
	if (connection->queue != NULL)
		deadline_stop(connection->queue, &connection->deadline);
	connection->queue = queue;
	if (queue != NULL)
		deadline_start(queue, &connection->deadline);
}

static void begin(struct http *http, struct MHD_Connection *of, void **context)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(of, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *connection = calloc(1, sizeof(*connection));

	http->counters->connections++;
	*context = connection;
	if (connection == NULL) {
		shutdown(info->connect_fd, SHUT_RDWR);
		return;
	}
	connection->http = http;
	connection->socket = info->connect_fd;
	connection->is_excess = http->counters->connections > http->limits->http_connections;
	deadline_init(&connection->deadline);
	move_to(connection, &http->request_deadlines);
}

void http_on_connection(void *closure, struct MHD_Connection *connection, void **context,
			enum MHD_ConnectionNotificationCode what)
{
	struct http *http = closure;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		begin(http, connection, context);
		return;
	}
	if (*context != NULL)
		move_to(*context, NULL);
	free(*context);
	*context = NULL;
	http->counters->connections--;
	http_listener_on_room(http);
}

static struct connection *connection_of(struct MHD_Connection *of)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(of, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

bool http_connection_begin_answer(struct MHD_Connection *of)
{
	struct connection *connection = connection_of(of);

	if (connection == NULL)
		return false;
	move_to(connection, &connection->http->answer_deadlines);
	return !connection->is_excess;
}

void http_connection_end_answer(struct MHD_Connection *of)
{
	struct connection *connection = connection_of(of);

	if (connection != NULL && !connection->http->is_ending)
		move_to(connection, &connection->http->idle_deadlines);
}
