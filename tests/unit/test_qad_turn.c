/*
 * Who rests goes on in the next round of the loop, but of each user only as many as have had two milliseconds together
 * the last time; the others keep their places.
 */
#include "test.h"

#include <string.h>

#include "turn.h"

enum { PEERS = 12 };

static struct {
	uv_loop_t loop;
	struct turns turns;
	struct account accounts[2];
	struct turn peers[PEERS];
	int went_on[PEERS];
	bool is_endless; /* who goes on keeps the loop for a millisecond again */
} fixture;

/* It kept the loop for so long, and rests. */
static void end_turn(struct turn *turn, uint64_t took_us)
{
	turn_begin(turn);
	turn->began_ns -= took_us * 1000;
	assert_true(turn_is_over(turn));
	assert_true(turn_end(&fixture.turns, turn));
	turn->took_ns = took_us * 1000; /* whatever a busy machine added */
}

static void go_on(struct turn *turn)
{
	fixture.went_on[turn - fixture.peers]++;
	if (fixture.is_endless)
		end_turn(turn, 1000);
}

static int setup(void **state)
{
	(void)state;
	memset(&fixture, 0, sizeof(fixture));
	assert_int_equal(uv_loop_init(&fixture.loop), 0);
	turns_init(&fixture.turns, &fixture.loop, go_on);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	turns_close(&fixture.turns);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&fixture.loop), 0);
	return 0;
}

static void rest(int peer, int account, uint64_t took_us)
{
	turn_init(&fixture.peers[peer], &fixture.accounts[account]);
	end_turn(&fixture.peers[peer], took_us);
}

static void run_round(void)
{
	uv_run(&fixture.loop, UV_RUN_NOWAIT);
}

static int count_of(int first, int end)
{
	int sum = 0;

	for (int i = first; i < end; i++)
		sum += fixture.went_on[i];
	return sum;
}

static void test_a_user_has_two_milliseconds_a_round(void **state)
{
	(void)state;
	for (int i = 0; i < PEERS - 1; i++)
		rest(i, 0, 1000);
	rest(PEERS - 1, 1, 1000);

	run_round();
	assert_int_equal(count_of(0, PEERS - 1), 2);
	assert_true(fixture.went_on[0] == 1 && fixture.went_on[1] == 1);
	assert_int_equal(fixture.went_on[PEERS - 1], 1);
	for (int round = 2; round <= 6; round++) {
		run_round();
		assert_int_equal(count_of(0, PEERS - 1), round < 6 ? 2 * round : PEERS - 1);
	}
	assert_false(uv_is_active((uv_handle_t *)&fixture.turns.idle));
}

static void test_one_a_round_goes_on_however_long_it_takes(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		rest(i, 0, 50000);
	for (int round = 1; round <= 3; round++) {
		run_round();
		assert_int_equal(count_of(0, 3), round);
	}
}

static void test_those_who_never_stop_do_not_keep_the_place_of_the_others(void **state)
{
	(void)state;
	for (int i = 0; i < PEERS; i++)
		rest(i, 0, 1000);
	fixture.is_endless = true;
	for (int round = 1; round <= PEERS; round++)
		run_round();
	for (int i = 0; i < PEERS; i++)
		assert_int_equal(fixture.went_on[i], 2);
}

static void test_who_goes_is_forgotten(void **state)
{
	(void)state;
	rest(0, 0, 1000);
	rest(1, 0, 1000);
	turn_forget(&fixture.peers[0]);
	run_round();
	assert_int_equal(fixture.went_on[0], 0);
	assert_int_equal(fixture.went_on[1], 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_user_has_two_milliseconds_a_round, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_a_round_goes_on_however_long_it_takes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_those_who_never_stop_do_not_keep_the_place_of_the_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_who_goes_is_forgotten, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
