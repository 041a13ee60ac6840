/*
 * watch.h - clients that want figures again and again.
 *
 * Watches of one interval are due at the same moments, multiples of it on the loop's clock. At such a moment, a round,
 * each target that a watch is due for is asked once, and not at all when it was asked a short while ago for another
 * watch: so a target is asked as often as the fastest of its watches wants, however many there are. When all have
 * answered, or the next round comes, each watch gets a notification with the newest figures. Whose earlier output
 * still waits gets none; when that is written, it gets the newest then: what is stale is dropped, never queued.
 */
#ifndef QAD_WATCH_H
#define QAD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "list.h"
#include "question.h"

struct body;
struct client;
struct service;

struct watch_order {
	pid_t pid; /* 0: all that the client may see */
	uint32_t interval_ms;
	bool with_classes;
};

struct watching {
	struct service *service;
	uv_timer_t timer;
	struct list all; /* struct watch */
	uint32_t last_id;
	uint32_t round;     /* its number */
	size_t unanswered;  /* questions of this round */
	bool is_round_open; /* its notifications are not sent yet */
	uint64_t began_ms;  /* the round */
	bool is_recording;  /* all targets, for the history */
	uint64_t record_ms; /* when that is due */
	struct body *body;  /* targets as one client sees them; serves others with the same rights; or NULL */
	bool is_body_of_all;
	uid_t body_uid;
	uint64_t body_ms;                /* when it was made */
	uint64_t notifications, dropped; /* ever */
};

void watching_init(struct watching *watching, struct service *service, bool is_recording);
/* By then no client is left. */
void watching_close(struct watching *watching);

/* The id of a new watch, whose first notification comes soon; 0 without memory. The target is there if one is named. */
uint32_t watching_add(struct watching *watching, struct client *client, const struct watch_order *order);
/* False: the client has no such watch. */
bool watching_remove(struct watching *watching, struct client *client, uint32_t id);
void watching_remove_all(struct watching *watching, struct client *client);

/* For the history: a target's new figures. Reads what else is known of it into its sample. */
void watching_record(struct watching *watching, struct target *target, const struct qp_totals *totals);

/* All output of a client is written. */
void watching_on_drained(struct watching *watching, struct client *client);
/* A target begins, or its connection is gone: it is off the registry, unless its process connected anew. */
void watching_on_target(struct watching *watching, struct target *target);
void watching_on_gone(struct watching *watching, struct target *target);

#endif
