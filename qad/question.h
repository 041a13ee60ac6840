/*
 * question.h - asks targets, and brings each answer to all who wait for it.
 *
 * Of each kind one question at most is on its way to a target, however many clients ask. Who asks meanwhile does not
 * get the answer that is under way, since its figures may be older than the wish for them: those share the next
 * question; of trims, only those that want the same. A deadline belongs to who waits, not to the question; when it
 * passes, the target counts as silent until it answers anything. While it is silent a question is always on its way, so
 * nobody needs to ask to find out.
 */
#ifndef QAD_QUESTION_H
#define QAD_QUESTION_H

#include <stdint.h>

#include "answer.h"
#include "deadline.h"
#include "limit.h"
#include "read.h"
#include "target.h"

struct questions {
	uv_loop_t *loop;
	struct log *log;
	struct deadline_queue stats_deadlines, trim_deadlines;
	uint64_t asked; /* ever */
	uint64_t trims, trim_bytes;
	uint64_t stray_answers; /* to no question that is on its way: late twice, doubled or invented */
};

void questions_init(struct questions *questions, uv_loop_t *loop, struct log *log, const struct limits *limits);
/* By then no waiter is left. */
void questions_close(struct questions *questions);

/* Prepares the slots of a new target. */
void question_init_target(struct target *target);

/* The caller has set on_answer, and for a trim order. Never fails: what goes wrong becomes the outcome. */
void question_ask(struct questions *questions, struct target *target, enum question_kind kind, struct waiter *waiter);
/* The waiter will not be called. */
void question_forget(struct questions *questions, struct waiter *waiter);

/* A response came from the target. */
void question_on_response(struct questions *questions, struct target *target, const struct qp_message *message);
/* The target's connection is gone: all who wait are told, and its figures freed. */
void question_on_gone(struct questions *questions, struct target *target);

#endif
