/*
 * qad keeps two rings: each second for 15 minutes, each ten seconds for 6 hours. Without a wish the coarse one is asked
 * how far back it goes; if the fine one goes as far, that is taken.
 */
#include "plot_data.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "answer.h"
#include "output.h"
#include "replay.h"
#include "round.h"
#include "with_qad.h"
#include "write.h"

enum { FINE_S = 15 * 60, COARSE_STEP_S = 10 };

/* A time beyond this is none; in milliseconds it is far from overflowing. */
#define MOST_TIME_S ((uint64_t)1 << 50)

static int add_point(struct plot_data *data, const struct plot_point *point)
{
	if (data->count == data->room) {
		size_t room = data->room ? data->room * 2 : 1024;
		struct plot_point *points = realloc(data->points, room * sizeof(*points));

		if (!points)
			return output_no_memory();
		data->points = points;
		data->room = room;
	}
	data->points[data->count++] = *point;
	return 0;
}

void plot_data_finish(struct plot_data *data)
{
	free(data->points);
	memset(data, 0, sizeof(*data));
}

static void read_trims(struct plot_data *data, struct qp_reader *reader, uint64_t now_ms)
{
	size_t count;
	const msgpack_object *trims = qp_read_array(reader, "trims", &count);

	data->mark_count = 0;
	for (size_t i = 0; i < count && data->mark_count < PLOT_MARKS; i++) {
		struct qp_reader trim = qp_reader_of(&trims[i]);
		struct plot_mark *mark = &data->marks[data->mark_count++];

		mark->time_ms = now_ms - qp_read_u64(&trim, "age_ms");
		mark->returned_bytes = qp_read_u64(&trim, "returned_bytes");
		if (trim.bad)
			reader->bad = trim.bad;
	}
}

static int read_points(struct plot_data *data, struct qp_reader *reader, uint64_t first_s, uint64_t step_s)
{
	static const char *const keys[] = {"used_bytes", "cached_bytes", "rss_bytes"};
	const msgpack_object *columns[3];
	size_t counts[3], count = SIZE_MAX;
	int status = 0;

	for (size_t i = 0; i < 3; i++) {
		columns[i] = qp_read_array(reader, keys[i], &counts[i]);
		count = counts[i] < count ? counts[i] : count;
	}
	if (reader->bad)
		return answer_fail(reader);
	data->count = 0;
	for (size_t i = 0; status == 0 && i < count; i++) {
		uint64_t values[3];
		size_t known = 0;

		while (known < 3 && columns[known][i].type == MSGPACK_OBJECT_POSITIVE_INTEGER) {
			values[known] = columns[known][i].via.u64;
			known++;
		}
		if (known < 3)
			continue;
		struct plot_point point = {(first_s + i * step_s) * 1000, values[0], values[1], values[2]};
		status = add_point(data, &point);
	}
	return status;
}

static int ask(struct plot_data *data, struct client *client, const struct resolve_match *match, uint64_t since_s,
	       uint64_t step_s, uint64_t *first_age_s)
{
	const struct qp_message *message;
	uint32_t id;
	struct qp_buffer *out = client_begin(client, "history", &id);
	char command[QP_NAME_BYTES + 1], name[QP_NAME_BYTES + 1];
	int status;

	qp_write_map(out, since_s ? 3 : 2);
	qp_write_key_u64(out, "pid", match->pid);
	qp_write_key_u64(out, "step_s", step_s);
	if (since_s)
		qp_write_key_u64(out, "from_s", since_s);
	status = with_qad_ask(client, id, match->who, &message);
	if (status != 0)
		return status;
	struct qp_reader reader = qp_reader_of(&message->body);
	uint64_t first_s = qp_read_u64(&reader, "first_time_s");

	data->pid = qp_read_u64(&reader, "pid");
	qp_read_string(&reader, "command", command, sizeof(command));
	qp_read_string(&reader, "name", name, sizeof(name));
	target_label(command, name, data->label, sizeof(data->label));
	*first_age_s = qp_read_u64(&reader, "first_age_s");
	if (!reader.bad && (first_s > MOST_TIME_S || *first_age_s > MOST_TIME_S))
		reader.bad = "first_time_s";
	if (reader.bad)
		return answer_fail(&reader);
	data->to_ms = (first_s + *first_age_s) * 1000;
	data->gap_ms = step_s * 1000 * 5 / 2;
	read_trims(data, &reader, data->to_ms);
	return read_points(data, &reader, first_s, step_s);
}

int plot_data_ask(struct plot_data *data, struct client *client, const struct resolve_match *match, uint64_t since_s,
		  uint64_t step_s)
{
	uint64_t first_age_s;
	int status = ask(data, client, match, since_s, step_s ? step_s : COARSE_STEP_S, &first_age_s);

	if (status == 0 && step_s == 0 && first_age_s <= FINE_S)
		status = ask(data, client, match, since_s, 1, &first_age_s);
	if (status == 0 && data->count > 0)
		data->from_ms = !since_s                       ? data->points[0].time_ms
				: since_s * 1000 < data->to_ms ? data->to_ms - since_s * 1000
							       : 0;
	return status;
}

static int take_item(struct plot_data *data, const struct target *target, uint64_t time_ms)
{
	const struct qp_totals *totals = &target->totals;
	struct plot_point point = {time_ms, totals->used_bytes, totals->cached_bytes, target->rss_bytes};

	if (!target->has_figures)
		return 0;
	if (data->count > 0 && target->pid != data->pid) {
		output_say(
			"the recording has several targets; name one (its pid is surest): 'qactl replay' lists them");
		return EX_USAGE;
	}
	/* A clock that was set back: what follows belongs to the right. */
	if (data->count > 0 && point.time_ms < data->points[data->count - 1].time_ms)
		point.time_ms = data->points[data->count - 1].time_ms;
	data->pid = target->pid;
	target_label(target->command, target->name, data->label, sizeof(data->label));
	return add_point(data, &point);
}

static int take(void *context, const struct round *round, bool has_classes)
{
	int status = 0;

	(void)has_classes; /* rows are not drawn */
	for (size_t i = 0; status == 0 && i < round->count; i++)
		status = take_item(context, &round->items[i].target, round->time_ms);
	return status;
}

int plot_data_read(struct plot_data *data, const char *path, const char *target, uint64_t since_s)
{
	struct replay replay = {.path = path, .target = target, .take = take, .context = data};
	int status = replay_run(&replay);
	uint64_t first_ms, span_ms;

	if (data->count == 0)
		return status;
	first_ms = data->points[0].time_ms;
	data->to_ms = data->points[data->count - 1].time_ms;
	span_ms = data->to_ms - first_ms;
	data->gap_ms = 3 * span_ms / data->count + 1;
	data->from_ms = since_s && since_s * 1000 < span_ms ? data->to_ms - since_s * 1000 : first_ms;
	return status;
}
