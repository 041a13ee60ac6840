/*
 * watch_core.h - a watch, and what the files of watching share: watch.c has the watches, watch_round.c asks the targets
 * when some are due, watch_notice.c sends what came, watch_body.c makes what is sent.
 */
#ifndef QAD_WATCH_CORE_H
#define QAD_WATCH_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "target.h"
#include "watch.h"

struct watch {
	struct list link;      /* in watching->all */
	struct list of_client; /* in client->watches */
	struct client *client;
	struct watch_order order;
	uint64_t start_ticks; /* of the process, when one is watched: its pid may be used again */
	uint32_t id;
	uint64_t due_ms;
	bool is_due;  /* in this round */
	bool is_owed; /* a notification was dropped, and none was sent since */
	uint64_t dropped;
};

/* Sets the timer for the earliest moment at which a watch is due, or stops it. */
void watch_set_timer(struct watching *watching);

/* Whether the target is the one that is watched, or one of all those that the client may see. */
bool watch_is_of(const struct watch *watch, const struct target *target);
/* The target that is watched; NULL when it is gone. Of a watch of one. */
const struct target *watch_target(const struct watch *watch);
/* Sends the newest figures, or counts what the client missed when earlier ones still wait. May end the watch. */
void watch_notify(struct watching *watching, struct watch *watch);
/* Ends a watch; the first tells the client why. */
void watch_end(struct watch *watch, const char *code, const char *message);
void watch_destroy(struct watch *watch);

#endif
