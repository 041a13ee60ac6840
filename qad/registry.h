/*
 * registry.h - the targets, by pid.
 *
 * A process is one target, but may have several connections: when it executed another program the old one may be seen
 * to end later than the new one begins, and two copies of libqa in one process each have theirs. The newest is the
 * target; those before it wait behind it, unseen and never asked, and come back in turn when it goes. Were they ended,
 * two copies would connect again and again, each throwing the other out.
 */
#ifndef QAD_REGISTRY_H
#define QAD_REGISTRY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target.h"

struct registry {
	struct target **targets; /* sorted by pid */
	size_t count, capacity;
	uint64_t removals; /* ever: who has made something of all targets knows by it that one is gone */
};

/* Enters a target. When its pid is there already, that one is behind it from now on. 0 or -ENOMEM. */
int registry_add(struct registry *registry, struct target *target);
/* Takes it out, wherever it is; the one behind it, if any, takes its place. */
void registry_remove(struct registry *registry, const struct target *target);
/* NULL when there is none. */
struct target *registry_find(const struct registry *registry, pid_t pid);
/* Frees the array; by then the targets are gone. */
void registry_finish(struct registry *registry);

#endif
