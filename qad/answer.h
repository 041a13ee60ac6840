/*
 * answer.h - what comes of a question: how it went, and what the target answered, read and checked.
 */
#ifndef QAD_ANSWER_H
#define QAD_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "read.h"
#include "target.h"

/* ANSWER_NO_CLASS: of a trim, there is no such size class or pool. ANSWER_UNKNOWN: the target's libqa is too old. */
enum answer_outcome { ANSWER_OK, ANSWER_TIMEOUT, ANSWER_GONE, ANSWER_FAILED, ANSWER_NO_CLASS, ANSWER_UNKNOWN };

struct answer {
	enum answer_outcome outcome;
	const struct figures *figures; /* of stats, ANSWER_OK; valid during the call */
	const struct qp_trim *trim;    /* of trim, ANSWER_OK */
	const struct occupancy *map;   /* of map, ANSWER_OK; valid during the call */
	uint64_t rss_before_bytes, rss_after_bytes;
};

/* What an error comes to, or an answer that makes no sense. */
enum answer_outcome answer_outcome_of_error(const struct qp_message *message);

/* 0; -EBADMSG: an answer that makes no sense; -ENOMEM. On success the caller frees figures->rows. */
int answer_read_figures(const struct qp_message *message, bool with_rows, struct figures *figures);

/* Likewise; the caller frees map->rows. */
int answer_read_map(const struct qp_message *message, struct occupancy *map);

/* 0 or -EBADMSG. */
int answer_read_trim(const struct qp_message *message, struct qp_trim *trim);

#endif
