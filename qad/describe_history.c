/*
 * A range of what was recorded, column by column, and the last trims. Ages count from now, since a wall clock may jump;
 * the wall clock's time of the first point comes along for those who draw it, and its number for those who join
 * answers.
 */
#include <time.h>

#include "describe.h"
#include "write.h"

struct points {
	enum history_step step;
	uint64_t first, count;
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
static struct points find_points(const struct history *history, enum history_step step, uint64_t now_ms,
				 uint64_t oldest_s, uint64_t newest_s)
{
	uint64_t now = now_ms / 1000 / history_step_s(step) + 1, first, last;
	struct history_figures figures;
	struct points points = {.step = step};

	if (!history_range(history, step, &first, &last))
		return points;
	oldest_s /= history_step_s(step);
	newest_s /= history_step_s(step);
	if (oldest_s < now && first < now - oldest_s)
		first = now - oldest_s;
	if (newest_s >= now)
		return points;
	if (last > now - newest_s)
		last = now - newest_s;
	while (first <= last && !history_get(history, step, first, &figures))
		first++;
	while (first <= last && !history_get(history, step, last, &figures))
		last--;
	points.first = first;
	points.count = first <= last ? last - first + 1 : 0;
	return points;
}

static void write_columns(struct qp_buffer *out, const struct history *history, const struct points *points)
{
	for (size_t column = 0; column < COLUMNS; column++) {
		qp_write_string(out, columns[column]);
		qp_write_array(out, (uint32_t)points->count);
		for (uint64_t i = 0; i < points->count; i++) {
			struct history_figures figures;

			if (history_get(history, points->step, points->first + i, &figures))
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

void describe_history(struct qp_buffer *out, const struct history *history, const struct history_query *query,
		      uint64_t now_ms)
{
	struct points points = find_points(history, query->step, now_ms, query->from_s, query->to_s);
	uint64_t step_s = history_step_s(query->step);
	uint64_t age_s = points.count > 0 ? now_ms / 1000 - (points.first - 1) * step_s : 0;
	uint64_t clock_s = (uint64_t)time(NULL);

	qp_write_key_u64(out, "step_s", step_s);
	qp_write_key_u64(out, "points", points.count);
	qp_write_key_u64(out, "first_point", points.first);
	qp_write_key_u64(out, "first_age_s", age_s);
	qp_write_key_u64(out, "first_time_s", clock_s > age_s ? clock_s - age_s : 0); /* a clock that was never set */
	write_columns(out, history, &points);
}

void describe_target_history(struct qp_buffer *out, const struct target *target, const struct history_query *query,
			     uint64_t now_ms)
{
	qp_write_map(out, 3 + DESCRIBE_HISTORY_PAIRS + 1);
	qp_write_key_u64(out, "pid", (uint64_t)target->peer->who.pid);
	qp_write_key_string(out, "command", target->process.command);
	qp_write_key_string(out, "name", target->name);
	describe_history(out, &target->history, query, now_ms);
	write_trims(out, &target->history, now_ms);
}
