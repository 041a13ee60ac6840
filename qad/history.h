/*
 * history.h - what a target had: totals per second for 15 minutes and per 10 seconds for 6 hours, and its last trims.
 *
 * Both series are rings of fixed size, 36,720 bytes together. A figure takes 16 bits (5 of exponent, 11 of mantissa):
 * exact up to 4,095, beyond that rounded to within 1/4096 of its value. Held and cached are sums of parts, so that
 * every point adds up. Time is the loop's, which no clock jump moves; a point is named by its number, time / step.
 */
#ifndef QAD_HISTORY_H
#define QAD_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "figures.h"

enum history_step { HISTORY_SECONDS, HISTORY_TENS, HISTORY_STEPS };
enum { HISTORY_TRIMS = 16 };

/* What a trim is about, and who wants it. */
struct trim_order {
	uint64_t block_size; /* of a size class; 0: all */
	uint64_t keep_bytes;
	char pool[QP_NAME_BYTES + 1]; /* "": all */
	uid_t uid;
	pid_t pid;
};

struct history_trim {
	uint64_t at_ms;
	struct trim_order order;
	uint32_t asked_by; /* how many asked for it together; order has the first */
	uint64_t returned_bytes, duration_us, rss_before_bytes, rss_after_bytes;
};

struct history_figures {
	uint64_t used_bytes, thread_bytes, partial_bytes, empty_bytes, slack_bytes, rss_bytes;
};

struct history_rings;

struct history {
	struct history_rings *rings; /* NULL: nothing was recorded */
	struct history_trim *trims;  /* likewise; a ring */
	uint64_t trim_count;         /* ever */
};

void history_finish(struct history *history);

/* False without memory, and then nothing is recorded. */
bool history_add(struct history *history, uint64_t now_ms, const struct qp_totals *totals, uint64_t rss_bytes);
bool history_add_trim(struct history *history, const struct history_trim *trim);

/* The memory that it takes. */
size_t history_bytes(const struct history *history);

unsigned history_step_s(enum history_step step);
/* False: there is no such step. */
bool history_step_of(uint64_t step_s, enum history_step *step);
/* The points that there can be: from *first to *last, both inclusive. False: there is none. */
bool history_range(const struct history *history, enum history_step step, uint64_t *first, uint64_t *last);
/* One of them; false when nothing was recorded in that time. */
bool history_get(const struct history *history, enum history_step step, uint64_t point,
		 struct history_figures *figures);

/* The last trims, the oldest first: how many, and each by its number. */
size_t history_trims(const struct history *history);
const struct history_trim *history_trim_at(const struct history *history, size_t number);

#endif
