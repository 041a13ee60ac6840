/*
 * agent_wake.h - the agent's thread in a table of descriptors of its own, and how to stop it there.
 *
 * In that table it loses nothing when the program closes or reuses descriptors, and the program never sees a number
 * that is not its own. The price: to wake it from outside one has to reach into its table.
 */
#ifndef LIBQA_AGENT_WAKE_H
#define LIBQA_AGENT_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct agent_wake {
	atomic_bool must_stop;
	atomic_int tid;       /* -1 until the agent can be woken; what follows is set before */
	int stop_fd, wake_fd; /* a pipe, in the agent's table: the end that it polls, the end to write to */
	ino_t inode;          /* the pipe's */
};

void agent_wake_init(struct agent_wake *wake);

/* By the agent, first of all: leaves the program's table. False: it can not, and has to end. */
bool agent_wake_enter(struct agent_wake *wake);
/* By the agent, before it sleeps. It sleeps on stop_fd too. */
bool agent_wake_must_stop(const struct agent_wake *wake);

/*
 * By the program. False: it can not be woken (no /proc, and Linux before 6.9), and stops only at the next thing that
 * happens to it. errno may change; no signal comes of it.
 */
bool agent_wake_stop(struct agent_wake *wake);
/* After the thread was joined: until the kernel, too, has forgotten it, so that the process has one thread less. */
void agent_wake_await_gone(const struct agent_wake *wake);

#endif
