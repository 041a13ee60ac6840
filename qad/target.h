/*
 * target.h - a process that runs libqa, and what is known of it.
 */
#ifndef QAD_TARGET_H
#define QAD_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "deadline.h"
#include "figures.h"
#include "history.h"
#include "list.h"
#include "peer.h"
#include "process.h"

/* Figures as they came with one answer. */
struct figures {
	bool is_known;
	uint64_t at_ms; /* by uv_now */
	struct qp_totals totals;
	struct qp_class *rows; /* NULL when only totals were asked */
	size_t row_count;
};

/* How full a target's pages are. */
struct occupancy {
	uint64_t page_size;
	struct qp_class_map *rows;
	size_t row_count;
};

/* What a target can be asked; of each kind at most one question is on its way. */
enum question_kind {
	QUESTION_TOTALS,
	QUESTION_CLASSES,
	QUESTION_ALL_CLASSES,
	QUESTION_MAP,
	QUESTION_TRIM,
	QUESTION_KINDS
};

struct answer;
struct target;
struct watching;

/* Somebody who waits for an answer; lies inside their own struct, and stays until called or forgotten. */
struct waiter {
	struct list link;
	struct deadline deadline;
	struct target *target;
	enum question_kind kind;
	const struct trim_order *order; /* QUESTION_TRIM; stays as long as the waiter */
	/* Called once, from the loop, never from inside question_ask. Off all lists by then: may be freed. */
	void (*on_answer)(struct waiter *waiter, const struct answer *answer);
};

/* What a target has of watching (watch.h). */
struct target_watch {
	struct waiter waiter;
	bool is_asked;
	uint32_t round;    /* in which it was asked */
	uint64_t asked_ms; /* 0: never; also by readers over HTTP */
	bool had_classes;  /* that question was for rows too */
};

struct question_slot {
	bool is_asked; /* a question is on its way: its answer is for the waiters in asked */
	uint32_t id;
	uint64_t rss_before_bytes; /* QUESTION_TRIM: when it was asked */
	struct trim_order order;   /* likewise; of who asked first */
	uint32_t asked_by;         /* likewise: how many */
	struct list asked;         /* struct waiter */
	struct list next;          /* came later: their question goes out after that answer */
};

struct target {
	struct peer *peer;
	struct target *behind; /* of the same process, connected before it: takes its place when it goes (registry.h) */
	struct process process;
	char name[QP_NAME_BYTES + 1];
	char version[QP_NAME_BYTES + 1];
	uint64_t inner_pid;
	bool is_silent; /* a question is unanswered past its deadline */
	uint32_t last_id;
	struct question_slot slots[QUESTION_KINDS];
	struct process_sample sample; /* of the last round, of watches or HTTP; scratch of `ps` */
	uint64_t sampled_ms;          /* when `ps` took that */
	struct figures last;          /* the newest figures seen; rows only of classes with pages, and only so many */
	struct watching *watching;
	struct target_watch watch;
	struct history history;
	uint64_t trims, trim_bytes; /* done since it connected, and returned by them */
};

#endif
