/*
 * top without a terminal: one frame as text, for a pipe or a mail. It looks twice, a delay apart, as rates take two
 * looks; of one process it looks once, and prints what 'qactl stats' does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "answer.h"
#include "output.h"
#include "stats_read.h"
#include "table.h"
#include "top/columns.h"
#include "top/top.h"
#include "with_qad.h"
#include "write.h"

/* A qad that sends more often than it was told is not waited for for ever. */
enum { LOOKS_MOST = 4 };

static uint64_t interval_of(const struct request *request)
{
	return request->given & OPTION_DELAY ? request->interval_ms : TOP_INTERVAL_MS;
}

static int begin_watch(struct client *client, const struct request *request, const struct resolve_match *match,
		       uint64_t *watch)
{
	const struct qp_message *message;
	struct qp_reader reader;
	uint32_t id;
	struct qp_buffer *out = client_begin(client, "watch", &id);
	int status;

	qp_write_map(out, match ? 3 : 1);
	qp_write_key_u64(out, "interval_ms", interval_of(request));
	if (match) {
		qp_write_key_u64(out, "pid", match->pid);
		qp_write_key_bool(out, "classes", true);
	}
	status = with_qad_ask(client, id, match ? match->who : NULL, &message);
	if (status != 0)
		return status;
	reader = qp_reader_of(&message->body);
	*watch = qp_read_u64(&reader, "watch");
	return reader.bad ? answer_fail(&reader) : 0;
}

int top_try_watch(struct client *client, const struct request *request, const struct resolve_match *match)
{
	const struct qp_message *message;
	struct qp_buffer *out;
	uint64_t watch;
	uint32_t id;
	int status = begin_watch(client, request, match, &watch);

	if (status != 0)
		return status;
	out = client_begin(client, "unwatch", &id);
	qp_write_map(out, 1);
	qp_write_key_u64(out, "watch", watch);
	return with_qad_ask(client, id, NULL, &message);
}

/* Waits for the next notification; with "unwatched" the process has ended. An exit status. */
static int next_figures(struct client *client, const struct request *request, const char *who,
			const struct qp_message **message)
{
	int timeout_ms = (int)interval_of(request) + 2 * client->stats_ms, error;

	client->waited_ms = timeout_ms;
	do {
		error = client_receive(client, client_clock_ms() + timeout_ms, message);
		if (error < 0)
			return client_fail(client, error);
		if (strcmp((*message)->method, "unwatched") == 0) {
			output_say("%s: ended", who ? who : "the watch");
			return EX_NOUSER;
		}
	} while (strcmp((*message)->method, "figures") != 0);
	return 0;
}

/* The rows in the order of the view, to be printed as they lie. */
static int print_view(const struct view *view)
{
	struct table_column columns[TABLE_COLUMNS];
	struct table table = {.columns = columns, .row_bytes = view->row_bytes, .row_count = view->shown};
	char *rows = calloc(view->shown + 1, view->row_bytes);

	if (!rows)
		return output_no_memory();
	for (size_t i = 0; i < view->shown; i++)
		memcpy(rows + i * view->row_bytes, view_row(view, i), view->row_bytes);
	table.column_count = columns_of_table(columns);
	table.rows = rows;
	table_print(stdout, &table);
	free(rows);
	return 0;
}

/* Takes figures until two sets are about a delay apart, as qad sends the first at once, and the next by its clock. */
static int look(struct top *top, struct client *client, const struct request *request)
{
	int64_t before_ms = 0, now_ms = 0;

	for (int looks = 0; looks < LOOKS_MOST; looks++) {
		const struct qp_message *message;
		const char *bad;
		int status = next_figures(client, request, NULL, &message), error;

		if (status != 0)
			return status;
		now_ms = client_clock_ms();
		error = process_list_take(&top->list, &message->body, now_ms, &bad);
		if (error == -EBADMSG)
			return answer_fail(&(struct qp_reader){.bad = bad});
		if (error < 0)
			return output_no_memory();
		if (looks > 0 && now_ms - before_ms >= (int64_t)interval_of(request) / 2)
			break;
		before_ms = now_ms;
	}
	return 0;
}

static int print_list(struct top *top, struct client *client, const struct request *request)
{
	int status = look(top, client, request);

	if (status != 0)
		return status;
	if (view_arrange(&top->processes, top->list.items, top->list.count) < 0)
		return output_no_memory();
	if (top->list.count == 0)
		output_say("no targets; a program shows up here when it runs on libqa with its agent on, and you may "
			   "see it");
	return print_view(&top->processes);
}

static int print_process(struct client *client, const struct request *request, const char *who)
{
	const struct qp_message *message;
	const msgpack_object *targets;
	struct qp_reader reader;
	struct stats stats;
	size_t count;
	int status = next_figures(client, request, who, &message);

	if (status != 0)
		return status;
	reader = qp_reader_of(&message->body);
	targets = qp_read_array(&reader, "targets", &count);
	if (!reader.bad && count != 1)
		reader.bad = "targets";
	if (reader.bad)
		return answer_fail(&reader);
	memset(&stats, 0, sizeof(stats));
	status = stats_read(&targets[0], &stats);
	if (status == 0)
		stats_print(stdout, &stats);
	stats_finish(&stats);
	return status;
}

int top_print_once(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	const struct resolve_match *match = targets->count ? &targets->matches[0] : NULL;
	struct top top;
	uint64_t watch;
	int status;

	client->takes_notifications = true;
	status = begin_watch(client, request, match, &watch);
	if (status != 0)
		return status;
	if (match)
		return print_process(client, request, match->who);
	top_init_views(&top, request);
	status = print_list(&top, client, request);
	top_finish(&top);
	return status;
}
