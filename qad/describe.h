/*
 * describe.h - writes what clients are told about a target: the keys of docs/PROTOCOL.md, "Keys".
 */
#ifndef QAD_DESCRIBE_H
#define QAD_DESCRIBE_H

#include <stdint.h>

#include "buffer.h"
#include "question.h"
#include "target.h"

/* How many pairs each adds to the caller's map. */
enum {
	DESCRIBE_TARGET_PAIRS = 11,
	DESCRIBE_BRIEF_PAIRS = 9,
	DESCRIBE_TOTALS_PAIRS = 1 + QP_TOTALS_PAIRS,
	DESCRIBE_STATS_PAIRS = DESCRIBE_TARGET_PAIRS + DESCRIBE_TOTALS_PAIRS + 1,
	DESCRIBE_MAP_PAIRS = DESCRIBE_TARGET_PAIRS + 2,
	DESCRIBE_HISTORY_PAIRS = 13,
};

void describe_target(struct qp_buffer *out, const struct target *target, const struct process_sample *sample);
/* Without cgroup and exe, which may be long and do not change. */
void describe_target_briefly(struct qp_buffer *out, const struct target *target, const struct process_sample *sample);
void describe_totals(struct qp_buffer *out, const struct qp_totals *totals, uint64_t age_ms);

/* A whole map: the result of stats. */
void describe_stats(struct qp_buffer *out, const struct target *target, const struct figures *figures, uint64_t age_ms);

/* A whole map: the result of map. */
void describe_map(struct qp_buffer *out, const struct target *target, const struct occupancy *map);

/* A whole map: the result of a trim that the target did. */
void describe_trim(struct qp_buffer *out, const struct target *target, const struct answer *answer);

/* What is wanted of a history: points that are so many seconds old. */
struct history_query {
	enum history_step step;
	uint64_t from_s, to_s;
};

/* Of any history; adds pairs to the caller's map. And a whole map: the result of history. */
void describe_history(struct qp_buffer *out, const struct history *history, const struct history_query *query,
		      uint64_t now_ms);
void describe_target_history(struct qp_buffer *out, const struct target *target, const struct history_query *query,
			     uint64_t now_ms);

struct service;

/* A whole map: the result of health. */
void describe_health(struct qp_buffer *out, const struct service *service);

#endif
