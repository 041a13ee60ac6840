/*
 * history.h of qad: what goes in comes out, as exactly as promised, for as long as promised, with gaps where nothing
 * was; and trims in their order.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "history.h"

static const struct history empty;
static struct history history;

static int set_up(void **state)
{
	(void)state;
	history = empty;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	history_finish(&history);
	return memcmp(&history, &empty, sizeof(history));
}

static void add(uint64_t now_ms, uint64_t used)
{
	struct qp_totals totals = {.used_bytes = used,
				   .thread_bytes = used + 1,
				   .partial_bytes = used + 2,
				   .empty_bytes = used + 3,
				   .slack_bytes = used + 4};

	assert_true(history_add(&history, now_ms, &totals, used + 5));
}

static void assert_near(uint64_t found, uint64_t wanted)
{
	uint64_t off = found > wanted ? found - wanted : wanted - found;

	assert_true(off <= wanted / 4096);
}

static void every_figure_is_kept_to_twelve_bits(void **state)
{
	struct history_figures figures;
	uint64_t first, last;

	(void)state;
	for (unsigned bit = 0; bit < 42; bit++) {
		for (uint64_t more = 0; more < 3; more++) {
			uint64_t used = ((uint64_t)1 << bit) - 1 + more * (((uint64_t)1 << bit) / 3);
			add(1000 * (bit + 1), used);
			assert_true(history_range(&history, HISTORY_SECONDS, &first, &last));
			assert_true(history_get(&history, HISTORY_SECONDS, last, &figures));
			assert_near(figures.used_bytes, used);
			assert_near(figures.thread_bytes, used + 1);
			assert_near(figures.partial_bytes, used + 2);
			assert_near(figures.empty_bytes, used + 3);
			assert_near(figures.slack_bytes, used + 4);
			assert_near(figures.rss_bytes, used + 5);
		}
	}
	add(100000, UINT64_MAX - 10); /* more than can be kept: the most that can */
	assert_true(history_range(&history, HISTORY_SECONDS, &first, &last));
	assert_true(history_get(&history, HISTORY_SECONDS, last, &figures));
	assert_true(figures.used_bytes >= (uint64_t)4090 << 30);
}

static void nothing_was_recorded(void **state)
{
	struct history_figures figures;
	uint64_t first, last;

	(void)state;
	assert_false(history_range(&history, HISTORY_SECONDS, &first, &last));
	assert_false(history_get(&history, HISTORY_TENS, 0, &figures));
	assert_int_equal(history_trims(&history), 0);
	assert_int_equal(history_bytes(&history), 0);
}

/* Six hours and more, a point a second, with an hour of silence in between. */
static void as_long_as_promised(void **state)
{
	enum { END = 9 * 3600, SILENT_FROM = 6 * 3600, SILENT_TO = 7 * 3600 };
	struct history_figures figures;
	uint64_t first, last;

	(void)state;
	for (uint64_t second = 5; second <= END; second++)
		if (second < SILENT_FROM || second >= SILENT_TO)
			add(second * 1000 + 7, second);
	assert_true(history_range(&history, HISTORY_SECONDS, &first, &last));
	assert_int_equal(last - first + 1, 15 * 60);
	assert_int_equal(last, END + 1);
	for (uint64_t point = first; point <= last; point++) {
		assert_true(history_get(&history, HISTORY_SECONDS, point, &figures));
		assert_near(figures.used_bytes, point - 1);
	}
	assert_false(history_get(&history, HISTORY_SECONDS, first - 1, &figures));
	assert_false(history_get(&history, HISTORY_SECONDS, last + 1, &figures));

	assert_true(history_range(&history, HISTORY_TENS, &first, &last));
	assert_int_equal(last - first + 1, 6 * 360);
	for (uint64_t point = first; point < last; point++) {
		uint64_t second = (point - 1) * 10;
		bool is_silent = second >= SILENT_FROM && second < SILENT_TO;
		assert_int_equal(history_get(&history, HISTORY_TENS, point, &figures), !is_silent);
		if (!is_silent)
			assert_near(figures.used_bytes, second + 9); /* the newest of the ten */
	}
	assert_true(history_bytes(&history) <= 40 << 10);
}

static void a_gap_longer_than_the_ring_leaves_nothing_old(void **state)
{
	struct history_figures figures;
	uint64_t first, last, points = 0;

	(void)state;
	for (uint64_t second = 0; second < 2000; second++)
		add(second * 1000, 1);
	add(1000000000, 2);
	for (enum history_step step = 0; step < HISTORY_STEPS; step++, points = 0) {
		assert_true(history_range(&history, step, &first, &last));
		for (uint64_t point = first; point <= last; point++)
			points += history_get(&history, step, point, &figures);
		assert_int_equal(points, 1);
	}
}

static void the_last_trims_in_their_order(void **state)
{
	struct history_trim trim = {.at_ms = 1};

	(void)state;
	for (unsigned i = 1; i <= 40; i++) {
		trim.returned_bytes = i;
		assert_true(history_add_trim(&history, &trim));
		size_t count = history_trims(&history);
		assert_int_equal(count, i < HISTORY_TRIMS ? i : HISTORY_TRIMS);
		for (size_t k = 0; k < count; k++)
			assert_int_equal(history_trim_at(&history, k)->returned_bytes, i - count + 1 + k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_was_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_figure_is_kept_to_twelve_bits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(as_long_as_promised, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_gap_longer_than_the_ring_leaves_nothing_old, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_last_trims_in_their_order, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
