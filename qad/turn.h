/*
 * turn.h - how long one peer may keep the loop before the others have their turn.
 *
 * A peer that sends faster than qad can handle would else keep the loop for as long as it sends. So a turn ends at the
 * first frame after a quarter of a millisecond. Then the peer rests: nothing is read from it until the next round of
 * the loop. In a round a user's resting peers go on for two milliseconds together, one at least; so it does not help
 * to flood from many connections. Who never sends for so long at a time never rests.
 */
#ifndef QAD_TURN_H
#define QAD_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "account.h"
#include "list.h"

/* Of a peer. */
struct turn {
	struct list link; /* in turns->resting while it rests */
	struct account *account;
	uint64_t began_ns, took_ns;
};

/* Of all peers. */
struct turns {
	uv_idle_t idle; /* runs while anyone rests, so that the loop does not sleep */
	struct list resting;
	uint64_t round;
	void (*go_on)(struct turn *turn); /* called for one that need not rest any longer */
};

void turns_init(struct turns *turns, uv_loop_t *loop, void (*go_on)(struct turn *turn));
/* By then nobody rests, nor will. */
void turns_close(struct turns *turns);

void turn_init(struct turn *turn, struct account *account);
void turn_begin(struct turn *turn);
/* Whether it has been long enough. */
bool turn_is_over(const struct turn *turn);
/* True: it was, and the peer rests from now on, until go_on or turn_forget. */
bool turn_end(struct turns *turns, struct turn *turn);
bool turn_is_resting(const struct turn *turn);
/* The peer goes; it may be resting. */
void turn_forget(struct turn *turn);

#endif
