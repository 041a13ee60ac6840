/*
 * history: a range of what was recorded of one target, column by column, and its last trims. Ages count from now, since
 * a wall clock may jump; the wall clock's time of the first point comes along for those who draw it.
 */
#include <time.h>

#include "methods.h"
#include "write.h"

struct range {
	enum history_step step;
	uint64_t first, count; /* points */
};

/* Where each column lies in the figures of a point; held and cached are made of them. */
static uint64_t column_value(const struct history_figures *figures, size_t column)
{
	uint64_t cached = figures->thread_bytes + figures->partial_bytes + figures->empty_bytes + figures->slack_bytes;
	const uint64_t values[] = {
		figures->used_bytes + cached, figures->used_bytes,    cached,
		figures->thread_bytes,        figures->partial_bytes, figures->empty_bytes,
		figures->slack_bytes,         figures->rss_bytes,
	};

	return values[column];
}

static const char *const columns[] = {"held_bytes",    "used_bytes",  "cached_bytes", "thread_bytes",
				      "partial_bytes", "empty_bytes", "slack_bytes",  "rss_bytes"};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* Points from newest_s to oldest_s seconds ago, as far as they are recorded; begins and ends with one that is. */
static struct range find_range(const struct history *history, enum history_step step, uint64_t now_ms,
			       uint64_t oldest_s, uint64_t newest_s)
{
	uint64_t now = now_ms / 1000 / history_step_s(step) + 1, first, last;
	struct history_figures figures;
	struct range range = {.step = step};

	if (!history_range(history, step, &first, &last))
		return range;
	oldest_s /= history_step_s(step);
	newest_s /= history_step_s(step);
	if (oldest_s < now && first < now - oldest_s)
		first = now - oldest_s;
	if (newest_s >= now)
		return range;
	if (last > now - newest_s)
		last = now - newest_s;
	while (first <= last && !history_get(history, step, first, &figures))
		first++;
	while (first <= last && !history_get(history, step, last, &figures))
		last--;
	range.first = first;
	range.count = first <= last ? last - first + 1 : 0;
	return range;
}

static void write_columns(struct qp_buffer *out, const struct history *history, const struct range *range)
{
	for (size_t column = 0; column < COLUMNS; column++) {
		qp_write_string(out, columns[column]);
		qp_write_array(out, (uint32_t)range->count);
		for (uint64_t i = 0; i < range->count; i++) {
			struct history_figures figures;

			if (history_get(history, range->step, range->first + i, &figures))
				qp_write_u64(out, column_value(&figures, column));
			else
				qp_write_nil(out);
		}
	}
}

static void write_trims(struct qp_buffer *out, const struct history *history, uint64_t now_ms)
{
	size_t count = history_trims(history);

	qp_write_string(out, "trims");
	qp_write_array(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		const struct history_trim *trim = history_trim_at(history, i);

		qp_write_map(out, 11);
		qp_write_key_u64(out, "age_ms", now_ms - trim->at_ms);
		qp_write_key_u64(out, "uid", trim->order.uid);
		qp_write_key_u64(out, "client_pid", (uint64_t)trim->order.pid);
		qp_write_key_u64(out, "asked_by", trim->asked_by);
		qp_write_key_u64(out, "block_size", trim->order.block_size);
		qp_write_key_string(out, "pool", trim->order.pool);
		qp_write_key_u64(out, "keep_bytes", trim->order.keep_bytes);
		qp_write_key_u64(out, "returned_bytes", trim->returned_bytes);
		qp_write_key_u64(out, "duration_us", trim->duration_us);
		qp_write_key_u64(out, "rss_before_bytes", trim->rss_before_bytes);
		qp_write_key_u64(out, "rss_after_bytes", trim->rss_after_bytes);
	}
}

void method_history(struct client *client, uint32_t id, struct qp_reader *params)
{
	uint64_t pid = qp_read_u64(params, "pid");
	uint64_t step_s = qp_read_u64_or(params, "step_s", 1);
	uint64_t from_s = qp_read_u64_or(params, "from_s", UINT64_MAX);
	uint64_t to_s = qp_read_u64_or(params, "to_s", 0);
	uint64_t now_ms = uv_now(client->service->loop);
	const struct target *target;

	if (method_refuse_bad(client, id, params))
		return;
	if (step_s != 1 && step_s != 10) {
		service_send_error(client, id, "bad_request", "\"step_s\" is 1 or 10");
		return;
	}
	target = method_find_target(client, id, pid);
	if (target == NULL)
		return;

	struct range range =
		find_range(&target->history, step_s == 1 ? HISTORY_SECONDS : HISTORY_TENS, now_ms, from_s, to_s);
	uint64_t age_s = range.count > 0 ? now_ms / 1000 - (range.first - 1) * step_s : 0;
	struct qp_buffer *out = service_begin_frame(client->service);
	qp_write_result(out, id);
	qp_write_map(out, 7 + COLUMNS + 1);
	qp_write_key_u64(out, "pid", pid);
	qp_write_key_string(out, "command", target->process.command);
	qp_write_key_string(out, "name", target->name);
	qp_write_key_u64(out, "step_s", step_s);
	qp_write_key_u64(out, "points", range.count);
	qp_write_key_u64(out, "first_age_s", age_s);
	qp_write_key_u64(out, "first_time_s", (uint64_t)time(NULL) - age_s);
	write_columns(out, &target->history, &range);
	write_trims(out, &target->history, now_ms);
	service_send_frame(client, id);
}
