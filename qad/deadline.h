/*
 * deadline.h - things that must happen within the same time each: hellos, answers to stats, answers to trim.
 *
 * As all entries of a queue have the same time, the order of arrival is the order of expiry: a list and one timer
 * serve any number of entries. An empty queue has no timer running, so that an idle qad is never woken.
 */
#ifndef QAD_DEADLINE_H
#define QAD_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "list.h"

struct deadline {
	struct list link;
	uint64_t due_ms; /* by uv_now */
};

struct deadline_queue {
	uv_timer_t timer;
	struct list entries;
	uint64_t time_ms;
	/* Called from the loop with an entry that is due and already off the queue. */
	void (*on_due)(struct deadline_queue *queue, struct deadline *entry);
};

void deadline_queue_init(struct deadline_queue *queue, uv_loop_t *loop, uint64_t time_ms,
			 void (*on_due)(struct deadline_queue *, struct deadline *));
/* Closes the timer; the queue has to stay until the loop has run its close callbacks. No entry may be left. */
void deadline_queue_close(struct deadline_queue *queue);

void deadline_init(struct deadline *entry);
void deadline_start(struct deadline_queue *queue, struct deadline *entry);
/* Allowed too when it is not started or already due. */
void deadline_stop(struct deadline_queue *queue, struct deadline *entry);

#endif
