/*
 * A connection that ends is made again twice a second: that costs next to nothing on a Unix socket, and the user sees
 * at once that qad is back. A qad that is stopped, but not gone, accepts connections and says nothing; it is given the
 * time of its own deadlines. Wishes (what to watch, whether to pause) outlive connections, requests do not.
 */
#include "top/top_link.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "write.h"

enum { RETRY_MS = 500, WATCH_RETRY_MS = 1000 };

void link_init(struct link *link, struct client *client, const char *socket_path)
{
	memset(link, 0, sizeof(*link));
	link->client = client;
	link->socket_path = socket_path;
	link->heard_ms = client_clock_ms();
	client->takes_notifications = true;
}

static struct link_request *find_request(struct link *link, uint32_t id)
{
	for (int i = 0; i < LINK_REQUESTS; i++)
		if (link->requests[i].kind != LINK_FREE && link->requests[i].id == id)
			return &link->requests[i];
	return NULL;
}

static struct link_request *free_request(struct link *link)
{
	for (int i = 0; i < LINK_REQUESTS; i++)
		if (link->requests[i].kind == LINK_FREE)
			return &link->requests[i];
	return NULL;
}

bool link_has_room(const struct link *link)
{
	int open = 0;

	for (int i = 0; i < LINK_REQUESTS; i++)
		open += link->requests[i].kind != LINK_FREE;
	/* Some are kept for what the user asks for. */
	return link->state == LINK_UP && open < LINK_REQUESTS - 8;
}

static struct qp_buffer *begin(struct link *link, const char *method, struct link_request *request, int kind)
{
	struct qp_buffer *out = client_begin(link->client, method, &request->id);

	request->kind = kind;
	return out;
}

static void end_connection(struct link *link, const char *problem)
{
	client_finish(link->client);
	client_init(link->client);
	link->client->takes_notifications = true;
	memset(link->requests, 0, sizeof(link->requests));
	link->watch = 0;
	link->state = LINK_DOWN;
	link->retry_ms = client_clock_ms() + RETRY_MS;
	snprintf(link->problem, sizeof(link->problem), "%s", problem);
}

static void fail(struct link *link, int error)
{
	char problem[sizeof(link->problem)];

	switch (-error) {
	case ECONNRESET:
	case ENOTCONN:
	case EPIPE:
		snprintf(problem, sizeof(problem), "qad is gone");
		break;
	case ETIMEDOUT:
		snprintf(problem, sizeof(problem), "qad does not answer");
		break;
	case EBUSY:
		snprintf(problem, sizeof(problem), "qad takes no more of you now: %s", link->client->detail);
		break;
	case EPROTO:
		snprintf(problem, sizeof(problem), "what listens is no qad of this release: %s", link->client->detail);
		break;
	default:
		snprintf(problem, sizeof(problem), "qad can not be talked to: %s", strerror(-error));
	}
	end_connection(link, problem);
}

void link_fail(struct link *link, const char *detail)
{
	char problem[sizeof(link->problem)];

	snprintf(problem, sizeof(problem), "qad says what is not understood (%s)", detail);
	end_connection(link, problem);
}

static void ask_watch(struct link *link)
{
	struct link_request *request = free_request(link);
	struct qp_buffer *out;

	link->retry_ms = 0;
	if (!request) {
		link->retry_ms = client_clock_ms() + RETRY_MS;
		return;
	}
	out = begin(link, "watch", request, LINK_OF_WATCH);
	qp_write_map(out, link->pid ? 3 : 1);
	qp_write_key_u64(out, "interval_ms", link->interval_ms);
	if (link->pid) {
		qp_write_key_u64(out, "pid", link->pid);
		qp_write_key_bool(out, "classes", true);
	}
	link->heard_ms = client_clock_ms();
}

static void unwatch(struct link *link, uint64_t watch)
{
	uint32_t id;
	struct qp_buffer *out = client_begin(link->client, "unwatch", &id);

	qp_write_map(out, 1);
	qp_write_key_u64(out, "watch", watch);
}

/* Ends the watch there is, and the one that is on its way as soon as its number is known. */
static void drop_watch(struct link *link)
{
	for (int i = 0; i < LINK_REQUESTS; i++)
		if (link->requests[i].kind == LINK_OF_WATCH)
			link->requests[i].kind = LINK_OF_OLD_WATCH;
	if (link->watch)
		unwatch(link, link->watch);
	link->watch = 0;
	link->retry_ms = 0;
}

static void renew_watch(struct link *link)
{
	if (link->state != LINK_UP)
		return;
	drop_watch(link);
	if (!link->is_paused && !link->is_over)
		ask_watch(link);
}

void link_watch(struct link *link, uint64_t pid, uint64_t interval_ms)
{
	if (link->pid != pid)
		link->is_over = false;
	link->pid = pid;
	link->interval_ms = interval_ms;
	renew_watch(link);
}

void link_pause(struct link *link, bool is_paused)
{
	link->is_paused = is_paused;
	renew_watch(link);
}

/* Begins a question about one process: 0, or why it can not be asked now. The caller writes its map. */
static int begin_about(struct link *link, const char *method, int kind, uint64_t pid, struct qp_buffer **out)
{
	struct link_request *request = free_request(link);

	if (link->state != LINK_UP)
		return -ENOTCONN;
	if (!request)
		return -EBUSY;
	*out = begin(link, method, request, kind);
	request->pid = pid;
	return 0;
}

int link_ask_history(struct link *link, uint64_t pid, unsigned from_s)
{
	struct qp_buffer *out;
	int error = begin_about(link, "history", LINK_OF_HISTORY, pid, &out);

	if (error != 0)
		return error;
	qp_write_map(out, 3);
	qp_write_key_u64(out, "pid", pid);
	qp_write_key_u64(out, "step_s", 1);
	qp_write_key_u64(out, "from_s", from_s);
	return 0;
}

int link_ask_trim(struct link *link, uint64_t pid, uint64_t block_size, const char *pool)
{
	struct qp_buffer *out;
	int error = begin_about(link, "trim", LINK_OF_TRIM, pid, &out);

	if (error != 0)
		return error;
	qp_write_map(out, 1 + (*pool || block_size));
	qp_write_key_u64(out, "pid", pid);
	if (*pool)
		qp_write_key_string(out, "pool", pool);
	else if (block_size)
		qp_write_key_u64(out, "block_size", block_size);
	return 0;
}

short link_events(const struct link *link)
{
	return (short)(POLLIN | (link->client->out.used_bytes ? POLLOUT : 0));
}

static bool is_watching(const struct link *link)
{
	for (int i = 0; i < LINK_REQUESTS; i++)
		if (link->requests[i].kind == LINK_OF_WATCH)
			return true;
	return link->watch != 0;
}

/* When patience with a qad that says nothing ends; INT64_MAX: nothing is awaited. */
static int64_t deadline(const struct link *link)
{
	if (link->state == LINK_HELLO)
		return link->heard_ms + CLIENT_CONNECT_MS;
	if (link->state == LINK_DOWN || !is_watching(link))
		return INT64_MAX;
	return link->heard_ms + (int64_t)(link->interval_ms + link->interval_ms / 2) + 2 * link->client->stats_ms;
}

int link_wait_ms(const struct link *link)
{
	int64_t next_ms = deadline(link), left_ms;

	if (link->retry_ms && link->retry_ms < next_ms)
		next_ms = link->retry_ms;
	if (next_ms == INT64_MAX)
		return -1;
	left_ms = next_ms - client_clock_ms();
	return left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void connect_again(struct link *link)
{
	struct link_request *request = &link->requests[0];
	int error = client_connect(link->client, link->socket_path, true);

	if (error < 0) {
		char problem[sizeof(link->problem)];

		/* The reason that it went down for is still the one to tell. */
		memcpy(problem, link->problem, sizeof(problem));
		end_connection(link, problem);
		return;
	}
	link->state = LINK_HELLO;
	link->retry_ms = 0;
	link->heard_ms = client_clock_ms();
	request->kind = LINK_OF_HELLO;
	request->id = client_begin_hello(link->client);
}

static enum link_news take_hello(struct link *link, const struct qp_message *message)
{
	int error = client_take_hello(link->client, message);

	if (error < 0) {
		fail(link, error);
		return LINK_STATE;
	}
	link->state = LINK_UP;
	link->problem[0] = '\0';
	renew_watch(link);
	return LINK_STATE;
}

static enum link_news take_watch(struct link *link, const struct qp_message *message, bool is_old)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	uint64_t watch = qp_read_u64_or(&reader, "watch", 0);

	if (message->has_error && is_old)
		return LINK_NOTHING;
	if (message->has_error) {
		answer_describe(message, NULL, link->problem, sizeof(link->problem));
		link->retry_ms = client_clock_ms() + WATCH_RETRY_MS;
		return LINK_STATE;
	}
	if (is_old)
		unwatch(link, watch);
	else
		link->watch = watch;
	link->problem[0] = '\0';
	return LINK_NOTHING;
}

static enum link_news take_response(struct link *link, const struct qp_message *message)
{
	struct link_request *found = find_request(link, message->id), request;

	if (!found)
		return LINK_NOTHING;
	request = *found;
	found->kind = LINK_FREE;
	link->pid_of_news = request.pid;
	switch (request.kind) {
	case LINK_OF_HELLO:
		return take_hello(link, message);
	case LINK_OF_WATCH:
	case LINK_OF_OLD_WATCH:
		return take_watch(link, message, request.kind == LINK_OF_OLD_WATCH);
	case LINK_OF_HISTORY:
		return LINK_HISTORY;
	default:
		return LINK_TRIM;
	}
}

static enum link_news take_notification(struct link *link, const struct qp_message *message)
{
	struct qp_reader reader = qp_reader_of(&message->body);

	if (link->watch == 0 || qp_read_u64(&reader, "watch") != link->watch)
		return LINK_NOTHING;
	if (strcmp(message->method, "figures") == 0)
		return LINK_FIGURES;
	if (strcmp(message->method, "unwatched") != 0)
		return LINK_NOTHING;
	link->watch = 0;
	link->is_over = true;
	return LINK_ENDED;
}

/* What is due by the clock. */
static enum link_news look_at_clock(struct link *link)
{
	int64_t now_ms = client_clock_ms();

	if (link->retry_ms && now_ms >= link->retry_ms) {
		if (link->state == LINK_DOWN)
			connect_again(link);
		else if (link->state == LINK_UP && !link->is_paused)
			ask_watch(link);
	}
	if (now_ms < deadline(link))
		return LINK_NOTHING;
	fail(link, -ETIMEDOUT);
	return LINK_STATE;
}

enum link_news link_next(struct link *link, const struct qp_message **message)
{
	enum link_news news = look_at_clock(link);

	while (news == LINK_NOTHING && link->state != LINK_DOWN) {
		int error = client_receive_now(link->client, message);

		if (error == -EAGAIN)
			return LINK_NOTHING;
		if (error < 0) {
			fail(link, error);
			return LINK_STATE;
		}
		link->heard_ms = client_clock_ms();
		news = (*message)->kind == QP_NOTIFICATION ? take_notification(link, *message)
							   : take_response(link, *message);
	}
	return news;
}
