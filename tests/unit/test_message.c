/*
 * Messages: requests, errors and notifications read back; envelopes are checked; readers report the first bad key.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "frame.h"
#include "protocol.h"
#include "read.h"
#include "write.h"

static void test_request_error_notification(void **state)
{
	(void)state;
	struct qp_buffer out;
	struct qp_message message;
	char text[64];

	qp_buffer_init(&out, 4096);
	qp_write_request(&out, 4000000000u, "stats");
	qp_write_map(&out, 3);
	qp_write_key_u64(&out, "pid", UINT64_MAX);
	qp_write_key_bool(&out, "classes", true);
	qp_write_key_string(&out, "name", "x");
	assert_int_equal(decode(&message, out.data, out.used_bytes), 0);
	assert_int_equal(message.kind, QP_REQUEST);
	assert_int_equal(message.id, 4000000000u);
	assert_string_equal(message.method, "stats");
	struct qp_reader reader = qp_reader_of(&message.body);
	assert_true(qp_read_u64(&reader, "pid") == UINT64_MAX);
	assert_true(qp_read_bool(&reader, "classes"));
	qp_read_string(&reader, "name", text, sizeof(text));
	assert_string_equal(text, "x");
	assert_null(reader.bad);
	qp_message_finish(&message);

	qp_buffer_reset(&out);
	qp_write_error_begin(&out, 3, "timeout", "No answer.", 1);
	qp_write_key_u64(&out, "last", 9);
	qp_write_error_end(&out);
	assert_int_equal(decode(&message, out.data, out.used_bytes), 0);
	assert_int_equal(message.kind, QP_RESPONSE);
	assert_true(message.has_error);
	reader = qp_reader_of(&message.body);
	qp_read_string(&reader, "code", text, sizeof(text));
	assert_string_equal(text, "timeout");
	qp_read_string(&reader, "message", text, sizeof(text));
	assert_string_equal(text, "No answer.");
	assert_int_equal(qp_read_u64(&reader, "last"), 9);
	assert_null(reader.bad);
	qp_message_finish(&message);

	qp_buffer_reset(&out);
	qp_write_notification(&out, "tick");
	qp_write_map(&out, 0);
	assert_int_equal(decode(&message, out.data, out.used_bytes), 0);
	assert_int_equal(message.kind, QP_NOTIFICATION);
	assert_int_equal(message.id, 0);
	assert_string_equal(message.method, "tick");
	qp_message_finish(&message);
	qp_buffer_finish(&out);
}

static void test_envelopes(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
		int error;
		const char *method;
	} cases[] = {
		{"\x94\x00\x01\xa1m\x80", 6, 0, "m"},
		{"\x94\x00\xce\xff\xff\xff\xff\xa1m\x80", 10, 0, "m"},
		{"\x94\x00\xcf\x00\x00\x00\x01\x00\x00\x00\x00\xa1m\x80", 14, -EBADMSG, NULL}, /* id 2^32 */
		{"\x94\x00\xff\xa1m\x80", 6, -EBADMSG, NULL},                                  /* id -1 */
		{"\x94\x00\xc0\xa1m\x80", 6, -EBADMSG, NULL},                                  /* id nil */
		{"\x94\x00\xca\x3f\x80\x00\x00\xa1m\x80", 10, -EBADMSG, NULL},                 /* id 1.0 */
		{"\x94\x03\x01\xa1m\x80", 6, -EBADMSG, NULL},                                  /* kind 3 */
		{"\x94\xff\x01\xa1m\x80", 6, -EBADMSG, NULL},
		{"\x94\xc2\x01\xa1m\x80", 6, -EBADMSG, NULL},
		{"\x93\x00\xa1m\x80", 5, -EBADMSG, NULL}, /* a request of 3 */
		{"\x93\x01\x01\xc0", 4, -EBADMSG, NULL},
		{"\x94\x02\x01\xa1m\x80", 6, -EBADMSG, NULL}, /* a notification of 4 */
		{"\x93\x02\xa1m\x80", 5, 0, "m"},
		{"\x94\x00\x01\xc4\x01m\x80", 7, 0, ""}, /* a binary method */
		{"\x94\x00\x01\x05\x80", 5, 0, ""},
		{"\x93\x02\xc0\x80", 4, 0, ""},
		{"\x94\x00\x01\xa2m\x00\x80", 7, 0, "?"}, /* a NUL in it */
		{"\x94\x00\x01\xbf"
		 "1234567890123456789012345678901\x80",
		 36, 0, "1234567890123456789012345678901"},
		{"\x94\x00\x01\xd9\x20"
		 "12345678901234567890123456789012\x80",
		 38, 0, "?"},
		{"\x94\x01\x01\xc0\x80", 5, 0, ""},
		{"\x94\x01\x01\xc0\xc0", 5, -EBADMSG, NULL}, /* neither error nor result */
		{"\x94\x01\x01\x80\x80", 5, -EBADMSG, NULL}, /* both */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct qp_message message;

		assert_int_equal(decode(&message, cases[i].bytes, cases[i].size), cases[i].error);
		if (cases[i].error != 0)
			continue;
		assert_string_equal(message.method, cases[i].method);
		qp_message_finish(&message);
	}
}

static void test_params_are_unwrapped(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
		const char *bad;
		uint64_t value;
	} cases[] = {
		{"\x93\x02\xa1m\x81\xa1k\x05", 8, NULL, 5},
		{"\x93\x02\xa1m\x91\x81\xa1k\x05", 9, NULL, 5},
		{"\x93\x02\xa1m\x90", 5, "k", 0},
		{"\x93\x02\xa1m\x80", 5, "k", 0},
		{"\x93\x02\xa1m\xc0", 5, "params", 0},
		{"\x93\x02\xa1m\x91\x05", 6, "params", 0},
		{"\x93\x02\xa1m\x92\x81\xa1k\x05\x80", 10, "params", 0},
		{"\x93\x02\xa1m\x82\xa1k\x05\xa1k\x06", 11, NULL, 5}, /* twice: the first */
		{"\x93\x02\xa1m\x82\x05\x06\xa1k\x07", 10, NULL, 7},  /* a key that is no string */
		{"\x93\x02\xa1m\x81\xc4\x01k\x05", 9, "k", 0},
		{"\x93\x02\xa1m\x81\xa1k\xd0\x05", 9, NULL, 5}, /* signed, not negative */
		{"\x93\x02\xa1m\x81\xa1k\xff", 8, "k", 0},
		{"\x93\x02\xa1m\x81\xa1k\xca\x00\x00\x00\x00", 12, "k", 0},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct qp_message message;

		assert_int_equal(decode(&message, cases[i].bytes, cases[i].size), 0);
		struct qp_reader reader = qp_reader_of(&message.body);
		assert_int_equal(qp_read_u64(&reader, "k"), cases[i].value);
		if (cases[i].bad == NULL)
			assert_null(reader.bad);
		else
			assert_string_equal(reader.bad, cases[i].bad);
		qp_message_finish(&message);
	}
}

static void test_reader_is_sticky_and_has_defaults(void **state)
{
	(void)state;
	struct qp_message message;
	char text[16];
	size_t elements = 99;
	static const char frame[] = "\x93\x02\xa1m\x84\xa1n\x05\xa1t\xc3\xa1s\xa2hi\xa1"
				    "a\x92\x01\x02";

	assert_int_equal(decode(&message, frame, sizeof(frame) - 1), 0);
	struct qp_reader reader = qp_reader_of(&message.body);

	assert_int_equal(qp_read_u64_or(&reader, "n", 1), 5);
	assert_int_equal(qp_read_u64_or(&reader, "none", 77), 77);
	assert_true(qp_read_bool_or(&reader, "t", false));
	assert_true(qp_read_bool_or(&reader, "none", true));
	assert_false(qp_read_bool_or(&reader, "none", false));
	qp_read_string_or(&reader, "s", text, sizeof(text), "x");
	assert_string_equal(text, "hi");
	qp_read_string_or(&reader, "none", text, sizeof(text), "default");
	assert_string_equal(text, "default");
	assert_non_null(qp_read_array(&reader, "a", &elements));
	assert_int_equal(elements, 2);
	assert_null(qp_read_value(&reader, "none"));
	assert_null(reader.bad);

	/* A wrong type is an error with a default too, and the first one stays. */
	assert_int_equal(qp_read_u64_or(&reader, "s", 3), 3);
	assert_string_equal(reader.bad, "s");
	assert_true(qp_read_bool_or(&reader, "n", true));
	qp_read_string_or(&reader, "n", text, sizeof(text), "d");
	assert_string_equal(text, "d");
	assert_false(qp_read_bool(&reader, "none"));
	qp_read_string(&reader, "none", text, sizeof(text));
	assert_string_equal(text, "");
	assert_null(qp_read_array(&reader, "n", &elements));
	assert_int_equal(elements, 0);
	assert_string_equal(reader.bad, "s");

	reader = qp_reader_of(NULL);
	assert_string_equal(reader.bad, "params");
	assert_int_equal(qp_read_u64_or(&reader, "n", 4), 4);
	assert_null(qp_read_value(&reader, "n"));
	qp_message_finish(&message);
	qp_message_finish(&message);
}

/* What qp_read_string keeps of a text, for every size of the place. */
static void test_strings_are_cut_between_characters(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t bytes, size;
		const char *kept;
	} cases[] = {
		{"abc", 3, 4, "abc"},
		{"abc", 3, 3, "ab"},
		{"abc", 3, 1, ""},
		{"a\0c", 3, 4, "a"},
		{"\xc3\xa9", 2, 3, "\xc3\xa9"},
		{"\xc3\xa9", 2, 2, ""},
		{"a\xc3\xa9", 3, 3, "a"},
		{"\xe2\x82\xac"
		 "x",
		 4, 4, "\xe2\x82\xac"},
		{"\xe2\x82\xac"
		 "x",
		 4, 3, ""},
		{"\xf0\x9f\x98\x80", 4, 4, ""},
		{"z\xf0\x9f\x98\x80", 5, 5, "z"},
		{"z\xf0\x9f\x98\x80", 5, 6, "z\xf0\x9f\x98\x80"},
		{"\x80\x80\x80\x80\x80\x80", 6, 6, "\x80\x80\x80\x80\x80"}, /* not UTF-8: where it falls */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		msgpack_object_kv pair = {
			.key = {.type = MSGPACK_OBJECT_STR, .via.str = {1, "k"}},
			.val = {.type = MSGPACK_OBJECT_STR, .via.str = {(uint32_t)cases[i].bytes, cases[i].text}}};
		msgpack_object map = {.type = MSGPACK_OBJECT_MAP, .via.map = {1, &pair}};
		struct qp_reader reader = qp_reader_of(&map);
		char *text = malloc(cases[i].size);

		assert_non_null(text);
		qp_read_string(&reader, "k", text, cases[i].size);
		assert_string_equal(text, cases[i].kept);
		free(text);
	}
}

/* A text above the limit is cut by the writer, or the peer would drop us. */
static void test_long_string_is_cut_when_written(void **state)
{
	(void)state;
	static char text[QP_STRING_BYTES + 10], back[QP_STRING_BYTES + 10];
	struct qp_buffer out;
	struct qp_message message;

	memset(text, 'a', sizeof(text) - 1);
	memcpy(text + QP_STRING_BYTES - 1, "\xc3\xa9", 2);
	qp_buffer_init(&out, 1 << 20);
	qp_write_notification(&out, "m");
	qp_write_map(&out, 1);
	qp_write_key_string(&out, "k", text);
	assert_int_equal(decode(&message, out.data, out.used_bytes), 0);
	struct qp_reader reader = qp_reader_of(&message.body);
	qp_read_string(&reader, "k", back, sizeof(back));
	assert_int_equal(strlen(back), QP_STRING_BYTES - 1);
	qp_message_finish(&message);
	qp_buffer_finish(&out);
}

/* Memory of the caller: too little is refused; the promised amount is enough for the densest frames. */
static void test_decode_in_memory(void **state)
{
	(void)state;
	struct qp_message message;
	size_t bytes = 4 + 3 + 4000;
	uint8_t *frame = calloc(1, bytes);
	void *memory = malloc(QP_MESSAGE_MEMORY(bytes));

	assert_non_null(frame);
	assert_non_null(memory);
	memcpy(frame, "\x93\x02\xa1m\xdc\x0f\xa0", 7);
	memset(frame + 7, 0x80, 4000); /* empty maps */
	assert_int_equal(qp_message_decode_in(&message, frame, bytes, memory, QP_MESSAGE_MEMORY(bytes) - 1), -ENOMEM);
	assert_int_equal(qp_message_decode_in(&message, frame, bytes, memory, QP_MESSAGE_MEMORY(bytes)), 0);
	assert_null(message.zone.chunk_list.head);
	assert_int_equal(message.body.via.array.size, 4000);
	qp_message_finish(&message);
	/* Bytes behind the frame, or a frame that is not whole. */
	assert_int_equal(qp_message_decode_in(&message, frame, bytes - 1, memory, QP_MESSAGE_MEMORY(bytes)), -EBADMSG);
	assert_int_equal(qp_message_decode(&message, frame, bytes - 1), -EBADMSG);
	assert_int_equal(qp_message_decode(&message, (const uint8_t *)"\x93\x02\xa1m\x80\x05", 6), -EBADMSG);
	free(memory);
	free(frame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_error_notification),
		cmocka_unit_test(test_envelopes),
		cmocka_unit_test(test_params_are_unwrapped),
		cmocka_unit_test(test_reader_is_sticky_and_has_defaults),
		cmocka_unit_test(test_strings_are_cut_between_characters),
		cmocka_unit_test(test_long_string_is_cut_when_written),
		cmocka_unit_test(test_decode_in_memory),
	};
	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
