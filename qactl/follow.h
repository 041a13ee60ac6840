/*
 * follow.h - figures again and again, by the protocol's watch, until something ends it.
 */
#ifndef QACTL_FOLLOW_H
#define QACTL_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "resolve.h"
#include "round.h"

struct follow {
	const struct resolve_result *targets; /* one watch for each; none: one watch of all */
	uint64_t interval_ms;                 /* 0: a second */
	bool classes;                         /* rows of classes too; only with targets */
	bool is_on_stdout;                    /* it is over when nobody reads stdout any more */
	uint64_t count;                       /* notifications; 0: no end */
	uint64_t duration_ms;                 /* 0: no end */
	/* Gets each notification as it comes; not 0: it is over, with that exit status. */
	int (*take)(void *context, const struct round *round);
	void *context;
};

/*
 * Returns 0 after count, duration, SIGINT or SIGTERM; 67 when the last target ended; else an exit status after having
 * said why.
 */
int follow_run(struct client *client, const struct follow *follow);

#endif
