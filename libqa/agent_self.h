/*
 * agent_self.h - whether the calling thread is the agent's: descriptor numbers mean other files in it (agent_wake.h).
 */
#ifndef LIBQA_AGENT_SELF_H
#define LIBQA_AGENT_SELF_H

#include <stdbool.h>

/* By the agent's thread, first and last of all. */
void agent_self_begin(void);
void agent_self_end(void);

/* In a forked child, which has no such thread. */
void agent_self_forget(void);

/* Any thread. */
bool agent_self_is_current(void);

#endif
