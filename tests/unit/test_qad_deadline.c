/*
 * deadline.h of qad: entries fall due in their order and not early, stopped ones never, and an empty queue leaves the
 * loop nothing to wake up for.
 */
#include "test.h"

#include "deadline.h"

enum { TIME_MS = 30, ENTRIES = 4 };

static struct fixture {
	uv_loop_t loop;
	struct deadline_queue queue;
	struct deadline entries[ENTRIES];
	size_t due[ENTRIES * 2];
	size_t due_count;
	struct deadline *start_when_due;
} fixture;

static void on_due(struct deadline_queue *queue, struct deadline *entry)
{
	assert_true(entry->due_ms <= uv_now(&fixture.loop));
	assert_true(list_is_empty(&entry->link));
	fixture.due[fixture.due_count++] = (size_t)(entry - fixture.entries);
	if (fixture.start_when_due != NULL)
		deadline_start(queue, fixture.start_when_due);
	fixture.start_when_due = NULL;
}

static int set_up(void **state)
{
	(void)state;
	fixture = (struct fixture){.due_count = 0};
	uv_loop_init(&fixture.loop);
	deadline_queue_init(&fixture.queue, &fixture.loop, TIME_MS, on_due);
	for (size_t i = 0; i < ENTRIES; i++)
		deadline_init(&fixture.entries[i]);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	deadline_queue_close(&fixture.queue);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	return uv_loop_close(&fixture.loop);
}

static void start_all(void)
{
	for (size_t i = 0; i < ENTRIES; i++)
		deadline_start(&fixture.queue, &fixture.entries[i]);
}

static void fall_due_in_order_and_in_time(void **state)
{
	uint64_t began_ms = uv_now(&fixture.loop);

	(void)state;
	start_all();
	uv_run(&fixture.loop, UV_RUN_DEFAULT); /* returns: no timer is left */
	assert_true(uv_now(&fixture.loop) - began_ms >= TIME_MS);
	assert_int_equal(fixture.due_count, ENTRIES);
	for (size_t i = 0; i < ENTRIES; i++)
		assert_int_equal(fixture.due[i], i);
}

static void stopped_ones_do_not(void **state)
{
	(void)state;
	start_all();
	deadline_stop(&fixture.queue, &fixture.entries[0]); /* the head, for which the timer is set */
	deadline_stop(&fixture.queue, &fixture.entries[2]);
	deadline_stop(&fixture.queue, &fixture.entries[2]); /* again: allowed */
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	assert_int_equal(fixture.due_count, 2);
	assert_int_equal(fixture.due[0], 1);
	assert_int_equal(fixture.due[1], 3);
}

static void an_empty_queue_has_no_timer(void **state)
{
	(void)state;
	assert_false(uv_loop_alive(&fixture.loop));
	start_all();
	assert_true(uv_loop_alive(&fixture.loop));
	for (size_t i = 0; i < ENTRIES; i++)
		deadline_stop(&fixture.queue, &fixture.entries[i]);
	assert_false(uv_loop_alive(&fixture.loop));
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	assert_int_equal(fixture.due_count, 0);
}

static void one_may_start_when_another_falls_due(void **state)
{
	(void)state;
	fixture.start_when_due = &fixture.entries[1];
	deadline_start(&fixture.queue, &fixture.entries[0]);
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	assert_int_equal(fixture.due_count, 2);
	assert_int_equal(fixture.due[1], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fall_due_in_order_and_in_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stopped_ones_do_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_queue_has_no_timer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_may_start_when_another_falls_due, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("qad deadline", tests, NULL, NULL);
}
