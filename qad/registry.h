/*
 * registry.h - the targets, by pid.
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

/*
 * Enters a target. When its pid is there already (the process executed another program and connected anew), that one
 * is replaced, and returned in *replaced for the caller to drop; else *replaced is NULL. 0 or -ENOMEM.
 */
int registry_add(struct registry *registry, struct target *target, struct target **replaced);
/* Takes it out unless it was replaced. */
void registry_remove(struct registry *registry, const struct target *target);
/* NULL when there is none. */
struct target *registry_find(const struct registry *registry, pid_t pid);
/* Frees the array; by then the targets are gone. */
void registry_finish(struct registry *registry);

#endif
