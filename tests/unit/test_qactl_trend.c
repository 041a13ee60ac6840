/*
 * The bars and the lines of small bars of qactl top: which columns are filled, and how high.
 */
#include "test.h"

#include "top/bar.h"
#include "top/trend.h"

static void test_a_bar_is_full_and_hides_nothing(void **state)
{
	static const struct {
		uint64_t used, cached;
		int columns, shown_used, shown_cached;
	} cases[] = {
		{0, 0, 10, 0, 0},       {5, 5, 10, 5, 5}, {1, 0, 10, 10, 0}, {0, 1, 10, 0, 10},
		{1, 1000000, 10, 1, 9}, /* a block in use is seen */
		{1000000, 1, 10, 9, 1}, /* so is one that is not */
		{1, 2, 10, 3, 7},       {1, 1, 1, 1, 0},  {1, 1, 0, 0, 0},   {UINT64_MAX, UINT64_MAX, 8, 4, 4},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct bar bar = bar_split(cases[i].used, cases[i].cached, cases[i].columns);

		assert_int_equal(bar.used, cases[i].shown_used);
		assert_int_equal(bar.cached, cases[i].shown_cached);
	}
}

static void put(struct trend *trend, int64_t slot, uint64_t used)
{
	struct trend_point point = {used, 0, 0};

	trend_put(trend, slot * TREND_STEP_MS, &point);
}

static void assert_levels(const struct trend *trend, int64_t slot, int columns, const int8_t *expected)
{
	int8_t levels[TREND_POINTS];

	trend_levels(trend, TREND_USED, slot * TREND_STEP_MS, columns, levels);
	for (int i = 0; i < columns; i++)
		assert_int_equal(levels[i], expected[i]);
}

static void test_a_trend_begins_at_zero_and_shows_gaps(void **state)
{
	static const int8_t first[] = {-1, -1, -1, -1, -1, 7}, later[] = {-1, -1, -1, 7, 4, -1};
	struct trend trend = {0};

	(void)state;
	put(&trend, 1000, 5);
	put(&trend, 1000, 100); /* the newest of its slot counts */
	assert_levels(&trend, 1000, 6, first);
	/* A column has 10 slots here. Half of the most is about half of the levels; of a column the most is shown. */
	put(&trend, 1001, 50);
	put(&trend, 1011, 50);
	put(&trend, 1012, 0);
	assert_levels(&trend, 1022, 6, later);
	assert_levels(&trend, 1022 + TREND_POINTS, 6, (const int8_t[]){-1, -1, -1, -1, -1, -1});
}

static void test_a_trend_of_nothing_but_zero(void **state)
{
	struct trend trend = {0};

	(void)state;
	put(&trend, 500, 0);
	assert_levels(&trend, 500, 2, (const int8_t[]){-1, 0});
}

static void test_a_trend_forgets_after_its_time(void **state)
{
	struct trend trend = {0};
	int8_t levels[TREND_POINTS];

	(void)state;
	for (int64_t slot = 100; slot < 100 + 3 * TREND_POINTS; slot += 2)
		put(&trend, slot, 10);
	trend_levels(&trend, TREND_USED, (99 + 3 * TREND_POINTS) * (int64_t)TREND_STEP_MS, TREND_POINTS, levels);
	for (int i = 0; i < TREND_POINTS; i++)
		assert_int_equal(levels[i], i % 2 ? -1 : 7);
	put(&trend, 100 + 10 * TREND_POINTS, 10);
	trend_levels(&trend, TREND_USED, (100 + 10 * TREND_POINTS) * (int64_t)TREND_STEP_MS, TREND_POINTS, levels);
	for (int i = 0; i < TREND_POINTS; i++)
		assert_int_equal(levels[i], i == TREND_POINTS - 1 ? 7 : -1);
}

static void test_history_does_not_replace_what_was_seen(void **state)
{
	struct trend_point old = {10, 0, 0};
	struct trend trend = {0};

	(void)state;
	put(&trend, 1000, 100);
	trend_fill(&trend, 1000 * (int64_t)TREND_STEP_MS, &old);
	trend_fill(&trend, 999 * (int64_t)TREND_STEP_MS, &old);
	trend_fill(&trend, 1, &old);  /* long ago */
	trend_fill(&trend, -1, &old); /* before the clock began */
	assert_int_equal(trend.points[1000 % TREND_POINTS].used_bytes, 100);
	assert_int_equal(trend.points[999 % TREND_POINTS].used_bytes, 10);
	assert_int_equal(__builtin_popcountll(trend.known), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_bar_is_full_and_hides_nothing),
		cmocka_unit_test(test_a_trend_begins_at_zero_and_shows_gaps),
		cmocka_unit_test(test_a_trend_of_nothing_but_zero),
		cmocka_unit_test(test_a_trend_forgets_after_its_time),
		cmocka_unit_test(test_history_does_not_replace_what_was_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
