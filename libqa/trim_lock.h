/*
 * trim_lock.h - trim's lock, which every drainer of heaps holds: one at a time.
 */
#ifndef LIBQA_TRIM_LOCK_H
#define LIBQA_TRIM_LOCK_H

/* Around fork, see fork.c. */
void trim_lock(void);
void trim_unlock(void);
void trim_unlock_in_child(void);

/* Between two pieces of a long walk: who waits for the lock goes first. */
void trim_give_way(void);

#endif
