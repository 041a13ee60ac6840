/*
 * Buffers: contents stay in order whatever mix of appends and consumes, limits hold to the byte, failure sticks.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

static void test_append_and_consume(void **state)
{
	(void)state;
	struct qp_buffer buffer;

	qp_buffer_init(&buffer, 100);
	qp_buffer_append(&buffer, NULL, 0);
	assert_null(buffer.memory);
	qp_buffer_append(&buffer, "hello, ", 7);
	qp_buffer_append(&buffer, "world", 5);
	assert_int_equal(buffer.used_bytes, 12);
	assert_memory_equal(buffer.data, "hello, world", 12);
	qp_buffer_consume(&buffer, 7);
	assert_memory_equal(buffer.data, "world", 5);
	qp_buffer_consume(&buffer, 5);
	assert_int_equal(buffer.used_bytes, 0);
	qp_buffer_append(&buffer, NULL, 0);
	assert_false(buffer.failed);
	qp_buffer_finish(&buffer);
	assert_null(buffer.memory);
	qp_buffer_append(&buffer, "again", 5);
	assert_memory_equal(buffer.data, "again", 5);
	qp_buffer_finish(&buffer);
}

static void test_limit_is_exact(void **state)
{
	(void)state;

	for (size_t limit = 0; limit < 2000; limit += 97) {
		struct qp_buffer buffer;

		qp_buffer_init(&buffer, limit);
		for (size_t i = 0; i < limit; i++)
			qp_buffer_append(&buffer, "x", 1);
		assert_false(buffer.failed);
		assert_int_equal(buffer.used_bytes, limit);
		assert_true(buffer.capacity_bytes <= limit);
		qp_buffer_append(&buffer, "x", 1);
		assert_true(buffer.failed);
		assert_int_equal(buffer.used_bytes, limit);
		qp_buffer_finish(&buffer);
	}
}

static void test_failure_sticks_until_reset(void **state)
{
	(void)state;
	struct qp_buffer buffer;

	qp_buffer_init(&buffer, 8);
	qp_buffer_append(&buffer, "123456789", 9);
	assert_true(buffer.failed);
	qp_buffer_append(&buffer, "1", 1);
	assert_true(buffer.failed);
	assert_int_equal(buffer.used_bytes, 0);
	assert_null(qp_buffer_reserve(&buffer, 1));
	assert_null(qp_buffer_reserve(&buffer, SIZE_MAX));
	qp_buffer_reset(&buffer);
	qp_buffer_append(&buffer, "12345678", 8);
	assert_false(buffer.failed);
	assert_memory_equal(buffer.data, "12345678", 8);
	qp_buffer_finish(&buffer);
}

static void test_fixed_moves_to_make_room(void **state)
{
	(void)state;
	uint8_t memory[8];
	struct qp_buffer buffer;

	qp_buffer_init_fixed(&buffer, memory, sizeof(memory));
	qp_buffer_append(&buffer, "12345678", 8);
	qp_buffer_consume(&buffer, 3);
	assert_int_equal(qp_buffer_room(&buffer), 0);
	qp_buffer_append(&buffer, "abc", 3);
	assert_false(buffer.failed);
	assert_ptr_equal(buffer.data, memory);
	assert_memory_equal(buffer.data, "45678abc", 8);
	qp_buffer_append(&buffer, "d", 1);
	assert_true(buffer.failed);
	qp_buffer_finish(&buffer);
	assert_false(buffer.failed);
	assert_int_equal(buffer.used_bytes, 0);
	assert_int_equal(qp_buffer_room(&buffer), 8);
}

/* A counter stream through a small limit, in steps of changing size: what comes out is what went in. */
static void stream(struct qp_buffer *buffer)
{
	uint32_t in = 0, out = 0, random = 1;

	for (int round = 0; round < 20000; round++) {
		random = random * 1664525u + 1013904223u;
		uint32_t count = (random >> 16) % 40;

		for (uint32_t i = 0; i < count && buffer->used_bytes + sizeof(in) <= buffer->limit_bytes; i++, in++)
			qp_buffer_append(buffer, &in, sizeof(in));
		random = random * 1664525u + 1013904223u;
		count = (random >> 16) % 40;
		for (uint32_t i = 0; i < count && buffer->used_bytes > 0; i++, out++) {
			uint32_t value;

			memcpy(&value, buffer->data, sizeof(value));
			assert_int_equal(value, out);
			qp_buffer_consume(buffer, sizeof(value));
		}
		assert_false(buffer->failed);
		assert_int_equal(buffer->used_bytes, (in - out) * sizeof(in));
	}
	assert_true(out > 1000);
}

static void test_stream(void **state)
{
	(void)state;
	struct qp_buffer buffer;
	uint8_t memory[1003];

	qp_buffer_init(&buffer, 3001);
	stream(&buffer);
	qp_buffer_finish(&buffer);
	qp_buffer_init_fixed(&buffer, memory, sizeof(memory));
	stream(&buffer);
}

static void test_consume_more_than_there_is(void **state)
{
	(void)state;
	struct qp_buffer buffer;

	qp_buffer_init(&buffer, 10);
	qp_buffer_append(&buffer, "123", 3);
	qp_buffer_consume(&buffer, 4);
	assert_int_equal(buffer.used_bytes, 0);
	assert_ptr_equal(buffer.data, buffer.memory);
	qp_buffer_finish(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append_and_consume),
		cmocka_unit_test(test_limit_is_exact),
		cmocka_unit_test(test_failure_sticks_until_reset),
		cmocka_unit_test(test_fixed_moves_to_make_room),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_consume_more_than_there_is),
	};

	return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
