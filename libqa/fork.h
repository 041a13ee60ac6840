/*
 * fork.h - the child of a fork has a whole heap.
 */
#ifndef LIBQA_FORK_H
#define LIBQA_FORK_H

/* Registers the handlers, once. Any thread. */
void fork_init(void);

#endif
