/*
 * resolve.h - which targets a TARGET on the command line means.
 */
#ifndef QACTL_RESOLVE_H
#define QACTL_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client.h"
#include "target.h"

struct resolve_query {
	const char *operand; /* a pid, a command name or a QA_NAME; NULL: every target */
	bool is_all;         /* several may match */
	const char *advice;  /* what to do when several match and may not */
};

struct resolve_match {
	uint64_t pid;
	char who[TARGET_LABEL_BYTES + 32]; /* for messages, escaped: "docview, pid 7", or "pid 7" */
};

struct resolve_result {
	struct resolve_match *matches;
	size_t count;
};

/*
 * Fills the result with at least one match, or, with operand NULL, any number. 67: nothing matches; 64: several match
 * and may not, they have been listed on stderr. A pid is not looked up: qad will say whether there is such a target.
 */
int resolve_targets(struct client *client, const struct resolve_query *query, struct resolve_result *result);
/* Whether a word on the command line means this target. */
bool resolve_is_meant(const struct target *target, const char *operand);

/* Adds one that is not there yet. 0, or 71 after having said so. */
int resolve_add(struct resolve_result *result, const struct resolve_match *match);
void resolve_finish(struct resolve_result *result);

#endif
