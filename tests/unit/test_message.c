/*
 * Messages: what is written reads back, at every size of buffer; envelopes are checked; readers report the first bad
 * key.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "frame.h"
#include "protocol.h"
#include "read.h"
#include "write.h"

/* Decodes bytes that are one frame, after the scan. Both kinds of memory must agree; the caller finishes it. */
static int decode(struct qp_message *message, const void *bytes, size_t size_bytes)
{
	size_t size;
	struct qp_message other;
	void *memory = malloc(QP_MESSAGE_MEMORY(size_bytes));

	assert_non_null(memory);
	assert_int_equal(qp_frame_scan(bytes, size_bytes, 1 << 22, &size), QP_FRAME_WHOLE);
	assert_int_equal(size, size_bytes);
	int error = qp_message_decode(message, bytes, size_bytes);
	assert_int_equal(qp_message_decode_in(&other, bytes, size_bytes, memory, QP_MESSAGE_MEMORY(size_bytes)), error);
	if (error == 0) {
		assert_int_equal(other.kind, message->kind);
		assert_int_equal(other.id, message->id);
		assert_string_equal(other.method, message->method);
		assert_int_equal(other.has_error, message->has_error);
		assert_true(msgpack_object_equal(other.body, message->body));
		qp_message_finish(&other);
	}
	free(memory);
	return error;
}

static void fill(void *values, size_t size_bytes, uint64_t first)
{
	for (size_t i = 0; i < size_bytes / sizeof(uint64_t); i++)
		((uint64_t *)values)[i] = first + i * 1000003;
}

static struct qp_class class_row(uint64_t first, const char *name)
{
	struct qp_class row = {.block_size = first,
			       .pages = first + 1,
			       .held_bytes = UINT64_MAX,
			       .used_bytes = first + 2,
			       .cached_bytes = first + 3,
			       .thread_bytes = first + 4,
			       .partial_bytes = first + 5,
			       .empty_bytes = first + 6,
			       .slack_bytes = first + 7,
			       .used_blocks = first + 8,
			       .allocs = 1ull << 40,
			       .frees = first + 9};

	strcpy(row.name, name);
	return row;
}

static void assert_row_equal(const struct qp_class *row, const struct qp_class *expected)
{
	assert_string_equal(row->name, expected->name);
	assert_int_equal(row->block_size, expected->block_size);
	assert_int_equal(row->pages, expected->pages);
	assert_int_equal(row->held_bytes, expected->held_bytes);
	assert_int_equal(row->used_bytes, expected->used_bytes);
	assert_int_equal(row->cached_bytes, expected->cached_bytes);
	assert_int_equal(row->thread_bytes, expected->thread_bytes);
	assert_int_equal(row->partial_bytes, expected->partial_bytes);
	assert_int_equal(row->empty_bytes, expected->empty_bytes);
	assert_int_equal(row->slack_bytes, expected->slack_bytes);
	assert_int_equal(row->used_blocks, expected->used_blocks);
	assert_int_equal(row->allocs, expected->allocs);
	assert_int_equal(row->frees, expected->frees);
}

/* The largest kind of answer. */
static void write_stats(struct qp_buffer *out, const struct qp_totals *totals, const struct qp_class rows[2])
{
	qp_write_result(out, 7);
	qp_write_map(out, QP_TOTALS_PAIRS + 1);
	qp_write_totals(out, totals);
	qp_write_string(out, "classes");
	qp_write_array(out, 2);
	qp_write_class(out, &rows[0]);
	qp_write_class(out, &rows[1]);
}

static void test_map_round_trip(void **state)
{
	(void)state;
	struct qp_class_map map = {.block_size = 48, .name = "pool", .pages = 5, .empty_pages = UINT64_MAX}, read;
	struct qp_buffer out;
	struct qp_message message;

	for (uint64_t i = 0; i < QP_TENTHS; i++) {
		map.tenth_pages[i] = i;
		map.tenth_out_bytes[i] = UINT64_MAX - i;
		map.tenth_free_bytes[i] = i << 40;
	}
	/* Whole; then with 9 and 11 tenths, and one that is negative. */
	for (int kind = 0; kind < 4; kind++) {
		qp_buffer_init(&out, QP_FRAME_TARGET_BYTES);
		qp_write_result(&out, 1);
		if (kind == 0) {
			qp_write_class_map(&out, &map);
		} else {
			uint32_t count = kind == 1 ? 9 : kind == 2 ? 11 : 10;
			qp_write_map(&out, QP_CLASS_MAP_PAIRS - 1);
			qp_write_key_u64(&out, "block_size", 1);
			qp_write_key_u64(&out, "pages", 1);
			qp_write_key_u64(&out, "empty_pages", 1);
			for (int row = 0; row < 3; row++) {
				qp_write_string(&out, row == 0   ? "tenth_pages"
						      : row == 1 ? "tenth_out_bytes"
								 : "tenth_free_bytes");
				qp_write_array(&out, count);
				for (uint32_t i = 0; i + 1 < count; i++)
					qp_write_u64(&out, 1);
				if (kind == 3 && row == 2)
					qp_write_bool(&out, true);
				else
					qp_write_u64(&out, 1);
			}
		}
		assert_int_equal(qp_message_decode(&message, out.data, out.used_bytes), 0);
		struct qp_reader reader = qp_reader_of(&message.body);
		qp_read_class_map(&reader, &read);
		if (kind == 0) {
			assert_null(reader.bad);
			assert_memory_equal(&read.tenth_pages, &map.tenth_pages, sizeof(map.tenth_pages));
			assert_memory_equal(&read.tenth_out_bytes, &map.tenth_out_bytes, sizeof(map.tenth_out_bytes));
			assert_memory_equal(&read.tenth_free_bytes, &map.tenth_free_bytes,
					    sizeof(map.tenth_free_bytes));
			assert_string_equal(read.name, "pool");
			assert_int_equal(read.block_size, 48);
			assert_int_equal(read.pages, 5);
			assert_true(read.empty_pages == UINT64_MAX);
		} else {
			assert_string_equal(reader.bad, kind == 3 ? "tenth_free_bytes" : "tenth_pages");
		}
		qp_message_finish(&message);
		qp_buffer_finish(&out);
	}
}

static void test_figures_round_trip(void **state)
{
	(void)state;
	struct qp_buffer out;
	struct qp_message message;
	struct qp_totals totals, totals_read;
	struct qp_class rows[2] = {class_row(24, "records"), class_row(0, "")};
	size_t elements;

	fill(&totals, sizeof(totals), 5);
	qp_buffer_init(&out, QP_FRAME_TARGET_BYTES);
	write_stats(&out, &totals, rows);
	assert_false(out.failed);
	assert_int_equal(decode(&message, out.data, out.used_bytes), 0);
	assert_int_equal(message.kind, QP_RESPONSE);
	assert_int_equal(message.id, 7);
	assert_false(message.has_error);
	assert_string_equal(message.method, "");
	assert_int_equal(message.body.via.map.size, QP_TOTALS_PAIRS + 1);

	struct qp_reader reader = qp_reader_of(&message.body);
	qp_read_totals(&reader, &totals_read);
	assert_memory_equal(&totals_read, &totals, sizeof(totals));
	const msgpack_object *classes = qp_read_array(&reader, "classes", &elements);
	assert_null(reader.bad);
	assert_int_equal(elements, 2);
	for (size_t i = 0; i < 2; i++) {
		struct qp_class row;
		struct qp_reader row_reader = qp_reader_of(&classes[i]);

		assert_int_equal(classes[i].via.map.size, QP_CLASS_PAIRS);
		qp_read_class(&row_reader, &row);
		assert_null(row_reader.bad);
		assert_row_equal(&row, &rows[i]);
	}
	qp_message_finish(&message);
	qp_buffer_finish(&out);
}

static void test_trim_round_trip(void **state)
{
	(void)state;
	struct qp_buffer out;
	struct qp_message message;
	struct qp_trim trim, trim_read;

	fill(&trim, sizeof(trim), 1ull << 33);
	qp_buffer_init(&out, 1024);
	qp_write_result(&out, UINT32_MAX);
	qp_write_map(&out, QP_TRIM_PAIRS);
	qp_write_trim(&out, &trim);
	assert_int_equal(decode(&message, out.data, out.used_bytes), 0);
	assert_int_equal(message.id, UINT32_MAX);
	assert_int_equal(message.body.via.map.size, QP_TRIM_PAIRS);
	struct qp_reader reader = qp_reader_of(&message.body);
	qp_read_trim(&reader, &trim_read);
	assert_null(reader.bad);
	assert_memory_equal(&trim_read, &trim, sizeof(trim));
	qp_message_finish(&message);
	qp_buffer_finish(&out);
}

/* The keys, as docs/PROTOCOL.md spells them: a renamed member must not rename a key unseen. */
static void test_keys(void **state)
{
	(void)state;
	static const char *const totals_keys[] = {"page_size",    "threads",           "held_bytes",    "used_bytes",
						  "cached_bytes", "thread_bytes",      "partial_bytes", "empty_bytes",
						  "slack_bytes",  "unreachable_bytes", "allocs",        "frees"};
	static const char *const class_keys[] = {"block_size",  "name",         "pages",        "held_bytes",
						 "used_bytes",  "cached_bytes", "thread_bytes", "partial_bytes",
						 "empty_bytes", "slack_bytes",  "used_blocks",  "allocs",
						 "frees"};
	static const char *const trim_keys[] = {"returned_bytes",      "held_before_bytes",  "held_after_bytes",
						"cached_before_bytes", "cached_after_bytes", "duration_us",
						"threads_skipped"};
	struct qp_buffer out;
	struct qp_message message;
	struct qp_totals totals = {0};
	struct qp_trim trim = {0};
	struct qp_class row = class_row(1, "n");

	qp_buffer_init(&out, 4096);
	qp_write_request(&out, 1, "m");
	qp_write_map(&out, QP_TOTALS_PAIRS + QP_TRIM_PAIRS + 1);
	qp_write_totals(&out, &totals);
	qp_write_trim(&out, &trim);
	qp_write_string(&out, "row");
	qp_write_class(&out, &row);
	assert_int_equal(decode(&message, out.data, out.used_bytes), 0);
	struct qp_reader reader = qp_reader_of(&message.body);
	struct qp_reader row_reader = qp_reader_of(qp_read_value(&reader, "row"));
	for (size_t i = 0; i < COUNT(totals_keys); i++)
		assert_non_null(qp_read_value(&reader, totals_keys[i]));
	for (size_t i = 0; i < COUNT(trim_keys); i++)
		assert_non_null(qp_read_value(&reader, trim_keys[i]));
	for (size_t i = 0; i < COUNT(class_keys); i++)
		assert_non_null(qp_read_value(&row_reader, class_keys[i]));
	qp_message_finish(&message);
	qp_buffer_finish(&out);
}

/* Each figure left out, or of a wrong type, is named. */
static void test_missing_figure(void **state)
{
	(void)state;
	struct qp_buffer out;
	struct qp_class rows[2] = {class_row(24, "records"), class_row(0, "")}, row;

	for (uint32_t broken = 0; broken < QP_CLASS_PAIRS; broken++) {
		struct qp_message message;

		qp_buffer_init(&out, 4096);
		qp_write_notification(&out, "row");
		qp_write_class(&out, &rows[0]);
		assert_int_equal(decode(&message, out.data, out.used_bytes), 0);
		msgpack_object_kv *pair = &message.body.via.map.ptr[broken];
		struct qp_reader reader = qp_reader_of(&message.body);

		pair->val.type = MSGPACK_OBJECT_NEGATIVE_INTEGER;
		qp_read_class(&reader, &row);
		assert_non_null(reader.bad);
		assert_memory_equal(reader.bad, pair->key.via.str.ptr, pair->key.via.str.size);
		if (pair->key.via.str.size == 4) /* the name may be missing */
			goto next;
		pair->key.via.str.size--;
		reader = qp_reader_of(&message.body);
		qp_read_class(&reader, &row);
		assert_non_null(reader.bad);
		assert_memory_equal(reader.bad, pair->key.via.str.ptr, pair->key.via.str.size);
	next:
		qp_message_finish(&message);
		qp_buffer_finish(&out);
	}
}

/* Whatever size the buffer ends at, the writer fails, stays within it, and never looks successful. */
static void test_out_of_room_at_every_byte(void **state)
{
	(void)state;
	struct qp_buffer out;
	struct qp_totals totals;
	struct qp_class rows[2] = {class_row(24, "records"), class_row(0, "")};

	fill(&totals, sizeof(totals), 5);
	qp_buffer_init(&out, 1 << 20);
	write_stats(&out, &totals, rows);
	size_t whole = out.used_bytes;
	qp_buffer_finish(&out);

	for (size_t room = 0; room <= whole; room++) {
		uint8_t *memory = malloc(room > 0 ? room : 1);

		assert_non_null(memory);
		qp_buffer_init_fixed(&out, memory, room);
		write_stats(&out, &totals, rows);
		assert_int_equal(out.failed, room < whole);
		qp_write_error(&out, 1, "failed", "after");
		qp_write_bool(&out, true);
		assert_true(out.failed);
		free(memory);

		qp_buffer_init(&out, room);
		write_stats(&out, &totals, rows);
		assert_int_equal(out.failed, room < whole);
		qp_buffer_finish(&out);
	}
}

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
		cmocka_unit_test(test_map_round_trip),
		cmocka_unit_test(test_figures_round_trip),
		cmocka_unit_test(test_trim_round_trip),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_missing_figure),
		cmocka_unit_test(test_out_of_room_at_every_byte),
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
