/*
 * Keys go out in a fixed order: who it is, then figures, then rows.
 */
#include "describe.h"

#include "write.h"

void describe_target_briefly(struct qp_buffer *out, const struct target *target, const struct process_sample *sample)
{
	qp_write_key_u64(out, "pid", (uint64_t)target->peer->who.pid);
	qp_write_key_u64(out, "uid", target->peer->who.uid);
	qp_write_key_string(out, "command", target->process.command);
	qp_write_key_string(out, "name", target->name);
	qp_write_key_u64(out, "uptime_s", sample->uptime_s);
	qp_write_key_u64(out, "inner_pid", target->inner_pid);
	qp_write_key_string(out, "version", target->version);
	qp_write_key_u64(out, "rss_bytes", sample->rss_bytes);
	qp_write_key_bool(out, "silent", target->is_silent);
}

void describe_target(struct qp_buffer *out, const struct target *target, const struct process_sample *sample)
{
	describe_target_briefly(out, target, sample);
	qp_write_key_string(out, "cgroup", target->process.cgroup);
	qp_write_key_string(out, "exe", target->process.exe);
}

void describe_totals(struct qp_buffer *out, const struct qp_totals *totals, uint64_t age_ms)
{
	qp_write_key_u64(out, "age_ms", age_ms);
	qp_write_totals(out, totals);
}

void describe_stats(struct qp_buffer *out, const struct target *target, const struct figures *figures, uint64_t age_ms)
{
	struct process_sample sample = {0};

	process_sample(&target->process, &sample);
	qp_write_map(out, DESCRIBE_STATS_PAIRS);
	describe_target(out, target, &sample);
	describe_totals(out, &figures->totals, age_ms);
	qp_write_string(out, "classes");
	qp_write_array(out, (uint32_t)figures->row_count);
	for (size_t i = 0; i < figures->row_count; i++)
		qp_write_class(out, &figures->rows[i]);
}

void describe_map(struct qp_buffer *out, const struct target *target, const struct occupancy *map)
{
	struct process_sample sample = {0};

	process_sample(&target->process, &sample);
	qp_write_map(out, DESCRIBE_MAP_PAIRS);
	describe_target(out, target, &sample);
	qp_write_key_u64(out, "page_size", map->page_size);
	qp_write_string(out, "classes");
	qp_write_array(out, (uint32_t)map->row_count);
	for (size_t i = 0; i < map->row_count; i++)
		qp_write_class_map(out, &map->rows[i]);
}

void describe_trim(struct qp_buffer *out, const struct target *target, const struct answer *answer)
{
	qp_write_map(out, 3 + QP_TRIM_PAIRS + 2);
	qp_write_key_u64(out, "pid", (uint64_t)target->peer->who.pid);
	qp_write_key_string(out, "command", target->process.command);
	qp_write_key_string(out, "name", target->name);
	qp_write_trim(out, answer->trim);
	qp_write_key_u64(out, "rss_before_bytes", answer->rss_before_bytes);
	qp_write_key_u64(out, "rss_after_bytes", answer->rss_after_bytes);
}
