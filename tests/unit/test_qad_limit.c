/*
 * limit.h of qad: every limit has its default of the protocol, can be set within its range, and nothing else can.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>

#include "limit.h"
#include "protocol.h"

static void the_defaults_are_those_of_the_protocol(void **state)
{
	struct limits limits;

	(void)state;
	limits_init(&limits);
	assert_int_equal(limits.hello_bytes, QP_HELLO_BYTES);
	assert_int_equal(limits.hello_ms, QP_HELLO_TIMEOUT_MS);
	assert_int_equal(limits.frame_answer_bytes, QP_FRAME_ANSWER_BYTES);
	assert_int_equal(limits.connections, QP_CONNECTIONS);
	assert_int_equal(limits.trim_ms, QP_TRIM_TIMEOUT_MS);
}

static void each_can_be_set_to_its_ends_and_not_beyond(void **state)
{
	struct limits limits;
	struct limit_range range;
	uint64_t value;
	const char *name;
	char setting[80];
	size_t count = 0;

	(void)state;
	limits_init(&limits);
	for (; (name = limits_at(&limits, count, &value, &range)) != NULL; count++) {
		assert_true(value >= range.least && value <= range.most);
		for (int i = 0; i < 2; i++) {
			uint64_t end = i == 0 ? range.least : range.most;
			snprintf(setting, sizeof(setting), "%s=%llu", name, (unsigned long long)end);
			assert_int_equal(limits_set(&limits, setting), 0);
			limits_at(&limits, count, &value, &range);
			assert_int_equal(value, end);
		}
		snprintf(setting, sizeof(setting), "%s=%llu", name, (unsigned long long)range.most + 1);
		assert_int_equal(limits_set(&limits, setting), -ERANGE);
		if (range.least > 0) {
			snprintf(setting, sizeof(setting), "%s=%llu", name, (unsigned long long)range.least - 1);
			assert_int_equal(limits_set(&limits, setting), -ERANGE);
		}
		assert_int_equal(limits_at(&limits, count, &value, &range) != NULL, 1);
		assert_int_equal(value, range.most);
	}
	assert_int_equal(count, limits_count());
}

static void what_is_no_setting(void **state)
{
	static const struct {
		const char *setting;
		int error;
	} wrong[] = {{"", -ENOENT},
		     {"nothing=1", -ENOENT},
		     {"connection=1", -ENOENT},
		     {"connections_=1", -ENOENT},
		     {"connections", -EINVAL},
		     {"connections=", -EINVAL},
		     {"connections=-1", -EINVAL},
		     {"connections=+1", -EINVAL},
		     {"connections= 1", -EINVAL},
		     {"connections=1x", -EINVAL},
		     {"connections=1KK", -EINVAL},
		     {"connections=99999999999999999999", -ERANGE},
		     {"connections=18014398509481984K", -ERANGE},
		     {"connections=17179869184G", -ERANGE}};
	struct limits limits;

	(void)state;
	limits_init(&limits);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(limits_set(&limits, wrong[i].setting), wrong[i].error);
	assert_int_equal(limits_set(&limits, "frame_client_bytes=64K"), 0);
	assert_int_equal(limits.frame_client_bytes, 65536);
	assert_int_equal(limits_set(&limits, "frame_client_bytes=1M"), 0);
	assert_int_equal(limits.frame_client_bytes, 1048576);
	assert_int_equal(limits_set(&limits, "memory_of_user_bytes=2G"), 0);
	assert_int_equal(limits.memory_of_user_bytes, 2ull << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_are_those_of_the_protocol),
		cmocka_unit_test(each_can_be_set_to_its_ends_and_not_beyond),
		cmocka_unit_test(what_is_no_setting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
