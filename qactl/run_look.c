/*
 * Asks qad for the program's figures soon after its start, then less and less often, down to once a second: the
 * program's agent answers that as it answers any `qactl stats`, and nothing is added to the program. What comes back
 * last is kept.
 */
#include "run_look.h"

#include <errno.h>
#include <string.h>

#include "stats_read.h"
#include "write.h"

/* A signal for the program waits while qad is asked, so not for long. */
enum { FIRST_MS = 20, OFTEN_MS = 1000, ANSWER_MS = 1000 };

void run_look_start(struct run_look *look, const char *socket_path, uint64_t pid)
{
	memset(look, 0, sizeof(*look));
	look->socket_path = socket_path;
	look->pid = pid;
	look->wait_ms = FIRST_MS;
	look->next_ms = client_clock_ms() + FIRST_MS;
}

static void disconnect(struct run_look *look)
{
	if (look->is_open)
		client_finish(&look->client);
	look->is_open = false;
}

void run_look_finish(struct run_look *look)
{
	disconnect(look);
	stats_finish(&look->last);
	memset(&look->last, 0, sizeof(look->last));
}

/* 0, or a negative errno. -ENOTCONN: there is no qad now; others will not get better. */
static int connect_again(struct run_look *look)
{
	client_init(&look->client);
	int error = client_open(&look->client, look->socket_path);
	if (error < 0)
		client_finish(&look->client);
	look->is_open = error == 0;
	return error;
}

static void keep(struct run_look *look, const struct qp_message *message)
{
	struct stats stats;

	if (message->has_error) /* not yet known to qad, stopped, or gone already */
		return;
	memset(&stats, 0, sizeof(stats));
	if (stats_read(&message->body, &stats) != 0) {
		stats_finish(&stats);
		look->is_over = true; /* it said why, once */
		return;
	}
	stats_finish(&look->last);
	look->last = stats;
	look->last_ms = client_clock_ms();
}

static int ask(struct run_look *look)
{
	const struct qp_message *message;
	uint32_t id;
	struct qp_buffer *out = client_begin(&look->client, "stats", &id);

	qp_write_map(out, 1);
	qp_write_key_u64(out, "pid", look->pid);
	int error = client_ask(&look->client, id, ANSWER_MS, &message);
	if (error == 0)
		keep(look, message);
	return error;
}

void run_look_when_due(struct run_look *look)
{
	int error = 0;

	if (look->is_over || client_clock_ms() < look->next_ms)
		return;
	if (!look->is_open)
		error = connect_again(look);
	if (error == 0 && ask(look) < 0)
		disconnect(look); /* an answer that comes later would be taken for the next one */
	look->is_over = look->is_over || (error < 0 && error != -ENOTCONN);
	look->wait_ms = look->wait_ms * 2 < OFTEN_MS ? look->wait_ms * 2 : OFTEN_MS;
	look->next_ms = client_clock_ms() + look->wait_ms;
}

int run_look_due_ms(const struct run_look *look)
{
	if (look->is_over)
		return -1;
	int64_t left_ms = look->next_ms - client_clock_ms();
	return left_ms > 1 ? (int)left_ms : 1;
}
