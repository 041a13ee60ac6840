/*
 * answer.h - reads what targets answer.
 */
#ifndef QAD_ANSWER_H
#define QAD_ANSWER_H

#include <stdbool.h>

#include "question.h"

/* What an error comes to, or an answer that makes no sense. */
enum answer_outcome answer_outcome_of_error(const struct qp_message *message);

/* 0; -EBADMSG: an answer that makes no sense; -ENOMEM. On success the caller frees figures->rows. */
int answer_read_figures(const struct qp_message *message, bool with_rows, struct figures *figures);

/* Likewise; the caller frees map->rows. */
int answer_read_map(const struct qp_message *message, struct occupancy *map);

/* 0 or -EBADMSG. */
int answer_read_trim(const struct qp_message *message, struct qp_trim *trim);

#endif
