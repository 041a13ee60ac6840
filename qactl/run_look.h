/*
 * run_look.h - the figures that a program had a moment ago, for `qactl run --stats-at-exit`: a process that a signal
 * ends leaves none.
 */
#ifndef QACTL_RUN_LOOK_H
#define QACTL_RUN_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "stats_table.h"

struct run_look {
	struct client client;
	const char *socket_path; /* of --socket, or NULL */
	uint64_t pid;
	bool is_open, is_over; /* over: qad can not be asked any more */
	int64_t next_ms;       /* of client_clock_ms: when to look again */
	int64_t wait_ms;       /* from then to the next time */
	struct stats last;     /* rows NULL: none yet */
	int64_t last_ms;       /* when it came */
};

void run_look_start(struct run_look *look, const char *socket_path, uint64_t pid);
void run_look_finish(struct run_look *look);

/* Asks qad, when it is time to. What goes wrong is left to the next time. */
void run_look_when_due(struct run_look *look);

/* Milliseconds until it is time, at least 1; -1: it never is. */
int run_look_due_ms(const struct run_look *look);

#endif
