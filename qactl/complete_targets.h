/*
 * complete_targets.h - the words that mean a target, as candidates of a completion.
 */
#ifndef QACTL_COMPLETE_TARGETS_H
#define QACTL_COMPLETE_TARGETS_H

#include "target.h"

/*
 * Commands and labels, each once; pids when word begins as one, or when nothing else names a target alone. Each on a
 * line on stdout, with a tab and what it is.
 */
void complete_targets(const struct target_list *list, const char *word);

#endif
