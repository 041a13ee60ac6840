/*
 * replay.h - goes through a recording, whole or not.
 */
#ifndef QACTL_REPLAY_H
#define QACTL_REPLAY_H

#include <stdbool.h>

#include "round.h"

struct replay {
	const char *path;   /* "-": stdin */
	const char *target; /* only those that it means, as on any command line; NULL: all */
	/* Gets each round that has such a target, only with these; has_classes: with rows. Not 0: it is over. */
	int (*take)(void *context, const struct round *round, bool has_classes);
	void *context;
};

/*
 * Returns what take did; 66: no such file, or 67: no such target in it; 65 after having said on stderr which lines are
 * damaged and were left out, or that the end is missing.
 */
int replay_run(const struct replay *replay);

#endif
