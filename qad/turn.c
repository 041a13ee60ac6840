/*
 * What a peer will need is not known before; what it needed the last time stands for it. Those who rest wait in one
 * list. Those for whom there is no time in a round stay in front of those who went on and rest again, so that all of a
 * user's have their turn, however many there are.
 */
#include "turn.h"

#define TURN_NS 250000u
#define USER_NS 2000000u

static void on_idle(uv_idle_t *idle)
{
	struct turns *turns = idle->data;
	struct list now, later, *link;

	list_init(&now);
	list_init(&later);
	list_append_all(&now, &turns->resting);
	turns->round++;
	while ((link = list_take_first(&now)) != NULL) {
		struct turn *turn = LIST_OWNER(link, struct turn, link);
		struct account *account = turn->account;

		if (account->turn_round != turns->round)
			account->turn_ns = 0;
		account->turn_round = turns->round;
		if (account->turn_ns >= USER_NS) {
			list_append(&later, link);
			continue;
		}
		account->turn_ns += turn->took_ns;
		turns->go_on(turn);
	}
	list_append_all(&later, &turns->resting);
	list_append_all(&turns->resting, &later);
	if (list_is_empty(&turns->resting))
		uv_idle_stop(idle);
}

void turns_init(struct turns *turns, uv_loop_t *loop, void (*go_on)(struct turn *turn))
{
	*turns = (struct turns){.go_on = go_on};
	list_init(&turns->resting);
	uv_idle_init(loop, &turns->idle);
	turns->idle.data = turns;
}

void turns_close(struct turns *turns)
{
	uv_close((uv_handle_t *)&turns->idle, NULL);
}

void turn_init(struct turn *turn, struct account *account)
{
	*turn = (struct turn){.account = account};
	list_init(&turn->link);
}

void turn_begin(struct turn *turn)
{
	turn->began_ns = uv_hrtime();
}

bool turn_is_over(const struct turn *turn)
{
	return uv_hrtime() - turn->began_ns >= TURN_NS;
}

bool turn_end(struct turns *turns, struct turn *turn)
{
	turn->took_ns = uv_hrtime() - turn->began_ns;
	if (turn->took_ns < TURN_NS)
		return false;
	list_append(&turns->resting, &turn->link);
	uv_idle_start(&turns->idle, on_idle);
	return true;
}

bool turn_is_resting(const struct turn *turn)
{
	return !list_is_empty(&turn->link);
}

void turn_forget(struct turn *turn)
{
	list_remove(&turn->link);
}
