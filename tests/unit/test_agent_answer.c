/*
 * What the agent answers, with statistics and trim made up here: all figures arrive, bad requests get errors, what is
 * too large becomes an error, and no frame that the scan lets through does harm.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent_answer.h"
#include "figures.h"
#include "frame.h"
#include "made_up_library.h"
#include "protocol.h"

#define OUT_BYTES ((size_t)QP_QUEUE_TARGET_BYTES)
#define SCRATCH_BYTES QP_MESSAGE_MEMORY((size_t)QP_FRAME_CLIENT_BYTES)

/* One exchange at a time. */

static uint8_t *out_memory, *scratch;
static struct qp_buffer out;
static struct qp_message answer;
static char error_code[32];

static int set_up(void **state)
{
	(void)state;
	out_memory = malloc(OUT_BYTES);
	scratch = malloc(SCRATCH_BYTES);
	qp_buffer_init_fixed(&out, out_memory, OUT_BYTES);
	made_up = (struct made_up){.row_count = 5};
	return out_memory != NULL && scratch != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(out_memory);
	free(scratch);
	return 0;
}

static enum agent_answer give(const void *frame, size_t frame_bytes)
{
	size_t size, used;

	assert_int_equal(qp_frame_scan(frame, frame_bytes, QP_FRAME_CLIENT_BYTES, &size), QP_FRAME_WHOLE);
	qp_buffer_reset(&out);
	enum agent_answer outcome = agent_answer_frame(&out, frame, frame_bytes, scratch, SCRATCH_BYTES, &used);
	assert_true(used <= SCRATCH_BYTES);
	assert_false(out.failed);
	assert_int_equal(out.used_bytes > 0, outcome == AGENT_ANSWER_GIVEN);
	return outcome;
}

/* Decodes what was answered: one frame, a response with the id. Notes the error's code. */
static struct qp_reader answered(uint32_t id)
{
	size_t size;

	assert_int_equal(qp_frame_scan(out.data, out.used_bytes, QP_FRAME_TARGET_BYTES, &size), QP_FRAME_WHOLE);
	assert_int_equal(size, out.used_bytes);
	assert_int_equal(qp_message_decode(&answer, out.data, out.used_bytes), 0);
	assert_int_equal(answer.kind, QP_RESPONSE);
	assert_int_equal(answer.id, id);
	struct qp_reader reader = qp_reader_of(&answer.body);
	error_code[0] = '\0';
	if (answer.has_error) {
		char message[128];

		qp_read_string(&reader, "code", error_code, sizeof(error_code));
		qp_read_string(&reader, "message", message, sizeof(message));
		assert_null(reader.bad);
		assert_true(strlen(message) > 10);
	}
	return reader;
}

static void assert_error(const void *frame, size_t frame_bytes, uint32_t id, const char *code)
{
	assert_int_equal(give(frame, frame_bytes), AGENT_ANSWER_GIVEN);
	answered(id);
	assert_string_equal(error_code, code);
	qp_message_finish(&answer);
}

static struct qp_reader ask_stats(uint32_t id, bool classes, bool all_classes)
{
	struct qp_buffer request;

	qp_buffer_init(&request, 1024);
	qp_write_request(&request, id, "stats");
	qp_write_map(&request, 2);
	qp_write_key_bool(&request, "classes", classes);
	qp_write_key_bool(&request, "all_classes", all_classes);
	assert_int_equal(give(request.data, request.used_bytes), AGENT_ANSWER_GIVEN);
	qp_buffer_finish(&request);
	return answered(id);
}

static void test_hello(void **state)
{
	(void)state;
	struct qp_message hello;
	char text[QP_NAME_BYTES + 1];

	qp_buffer_reset(&out);
	agent_answer_hello(&out);
	assert_true(out.used_bytes <= QP_HELLO_BYTES);
	assert_int_equal(qp_message_decode(&hello, out.data, out.used_bytes), 0);
	assert_int_equal(hello.kind, QP_REQUEST);
	assert_int_equal(hello.id, AGENT_HELLO_ID);
	assert_string_equal(hello.method, "hello");
	struct qp_reader reader = qp_reader_of(&hello.body);
	assert_int_equal(qp_read_u64(&reader, "protocol"), 1);
	assert_int_equal(qp_read_u64(&reader, "pid"), getpid());
	qp_read_string(&reader, "role", text, sizeof(text));
	assert_string_equal(text, "target");
	qp_read_string(&reader, "version", text, sizeof(text));
	assert_string_equal(text, "9.8.7");
	qp_read_string(&reader, "name", text, sizeof(text));
	assert_string_equal(text, "a name");
	assert_null(reader.bad);
	qp_message_finish(&hello);
}

static void test_stats_totals(void **state)
{
	(void)state;
	struct qp_reader reader = ask_stats(7, false, false);
	struct qp_totals totals;

	assert_false(answer.has_error);
	qp_read_totals(&reader, &totals);
	assert_null(reader.bad);
	for (size_t i = 0; i < QP_TOTALS_PAIRS; i++)
		assert_int_equal(((uint64_t *)&totals)[i], 101 + i);
	assert_null(qp_read_value(&reader, "classes"));
	qp_message_finish(&answer);

	/* Without params at all. */
	assert_int_equal(give("\x94\x00\x05\xa5stats\x90", 10), AGENT_ANSWER_GIVEN);
	reader = answered(5);
	assert_null(qp_read_value(&reader, "classes"));
	qp_message_finish(&answer);
	assert_int_equal(made_up.stats_calls, 2);
}

static void assert_row(const msgpack_object *object, size_t i)
{
	struct qp_reader reader = qp_reader_of(object);
	struct qa_class_stats expected = made_up_row(i);
	struct qp_class row;

	qp_read_class(&reader, &row);
	assert_null(reader.bad);
	assert_string_equal(row.name, expected.name);
	assert_int_equal(row.block_size, expected.block_size);
	assert_int_equal(row.pages, expected.pages);
	assert_int_equal(row.held_bytes, expected.held_bytes);
	assert_int_equal(row.used_bytes, expected.used_bytes);
	assert_int_equal(row.cached_bytes, expected.cached_bytes);
	assert_int_equal(row.thread_bytes, expected.thread_bytes);
	assert_int_equal(row.partial_bytes, expected.partial_bytes);
	assert_int_equal(row.empty_bytes, expected.empty_bytes);
	assert_int_equal(row.slack_bytes, expected.slack_bytes);
	assert_int_equal(row.used_blocks, expected.used_blocks);
	assert_int_equal(row.allocs, expected.allocs);
	assert_int_equal(row.frees, expected.frees);
}

static void test_stats_rows(void **state)
{
	(void)state;
	size_t elements;
	struct qp_reader reader = ask_stats(1, true, true);
	const msgpack_object *rows = qp_read_array(&reader, "classes", &elements);

	assert_int_equal(elements, 5);
	for (size_t i = 0; i < 5; i++)
		assert_row(&rows[i], i);
	qp_message_finish(&answer);

	/* Without those that hold nothing: the first and the fourth. */
	reader = ask_stats(2, true, false);
	rows = qp_read_array(&reader, "classes", &elements);
	assert_int_equal(elements, 3);
	assert_row(&rows[0], 1);
	assert_row(&rows[1], 2);
	assert_row(&rows[2], 4);
	qp_message_finish(&answer);

	made_up.row_count = 0;
	reader = ask_stats(3, true, true);
	qp_read_array(&reader, "classes", &elements);
	assert_null(reader.bad);
	assert_int_equal(elements, 0);
	qp_message_finish(&answer);
}

/* More rows than fit the answer, then more than fit the scratch memory: an error, and the next answer is good again. */
static void test_too_many_rows(void **state)
{
	(void)state;
	static const size_t counts[] = {1500, 100000};

	for (size_t i = 0; i < COUNT(counts); i++) {
		made_up.row_count = counts[i];
		ask_stats(9, true, true);
		assert_string_equal(error_code, "failed");
		qp_message_finish(&answer);
		ask_stats(10, false, false);
		assert_false(answer.has_error);
		qp_message_finish(&answer);
	}
}

static void assert_map(const msgpack_object *object, uint64_t i, const char *name)
{
	struct qp_reader reader = qp_reader_of(object);
	struct qp_class_map map;

	qp_read_class_map(&reader, &map);
	assert_null(reader.bad);
	assert_string_equal(map.name, name);
	assert_int_equal(map.block_size, 300 + i);
	assert_int_equal(map.pages, i == 0 ? 7 : 0);
	assert_int_equal(map.empty_pages, i == 2 ? 8 : 0);
	for (uint64_t tenth = 0; tenth < QP_TENTHS; tenth++) {
		assert_int_equal(map.tenth_pages[tenth], 1000 * i + tenth);
		assert_int_equal(map.tenth_out_bytes[tenth], 1000 * i + 100 + tenth);
		assert_true(map.tenth_free_bytes[tenth] == UINT64_MAX - tenth);
	}
}

static void test_map(void **state)
{
	(void)state;
	size_t elements;

	assert_int_equal(give("\x94\x00\x05\xa3map\x80", 8), AGENT_ANSWER_GIVEN);
	struct qp_reader reader = answered(5);
	const msgpack_object *rows = qp_read_array(&reader, "classes", &elements);
	assert_int_equal(qp_read_u64(&reader, "page_size"), 101);
	assert_int_equal(elements, 2);
	assert_map(&rows[0], 0, "");
	assert_map(&rows[1], 2, "pool");
	qp_message_finish(&answer);
}

static void test_trim(void **state)
{
	(void)state;
	struct qp_trim trim;
	static const char request[] = "\x94\x00\x08\xa4trim\x80";

	assert_int_equal(give(request, sizeof(request) - 1), AGENT_ANSWER_GIVEN);
	struct qp_reader reader = answered(8);
	assert_false(answer.has_error);
	qp_read_trim(&reader, &trim);
	assert_null(reader.bad);
	for (size_t i = 0; i < QP_TRIM_PAIRS; i++)
		assert_int_equal(((uint64_t *)&trim)[i], 201 + i);
	qp_message_finish(&answer);
	assert_int_equal(made_up.trim_calls, 1);

	assert_int_equal(made_up.trim_options.block_size, 0);
	assert_int_equal(made_up.trim_options.keep_bytes, 0);
	assert_string_equal(made_up.trim_pool, "(none)");

	made_up.trim_error = -EINVAL;
	assert_error(request, sizeof(request) - 1, 8, "bad_request");
	made_up.trim_error = -EAGAIN;
	assert_error(request, sizeof(request) - 1, 8, "failed");
	made_up.trim_error = -ENOENT;
	assert_error(request, sizeof(request) - 1, 8, "no_class");
}

static void test_trim_of_a_part(void **state)
{
	(void)state;
	static const char of_class[] = "\x94\x00\x08\xa4trim\x82\xaa"
				       "block_size\x18\xaakeep_bytes\xcd\x10\x00";
	static const char of_pool[] = "\x94\x00\x09\xa4trim\x81\xa4pool\xa5nodes";

	assert_int_equal(give(of_class, sizeof(of_class) - 1), AGENT_ANSWER_GIVEN);
	answered(8);
	assert_false(answer.has_error);
	qp_message_finish(&answer);
	assert_int_equal(made_up.trim_options.block_size, 24);
	assert_int_equal(made_up.trim_options.keep_bytes, 4096);
	assert_string_equal(made_up.trim_pool, "(none)");

	assert_int_equal(give(of_pool, sizeof(of_pool) - 1), AGENT_ANSWER_GIVEN);
	answered(9);
	assert_false(answer.has_error);
	qp_message_finish(&answer);
	assert_int_equal(made_up.trim_options.block_size, 0);
	assert_string_equal(made_up.trim_pool, "nodes");
	assert_error("\x94\x00\x09\xa4trim\x81\xa4pool\x05", 15, 9, "bad_request");
}

static void test_bad_requests(void **state)
{
	(void)state;

	assert_error("\x94\x00\x01\xa4what\x80", 9, 1, "unknown_method");
	assert_error("\x94\x00\x01\xa5hello\x80", 10, 1, "unknown_method");
	assert_error("\x94\x00\x01\xc4\x04trim\x80", 10, 1, "bad_request");
	assert_error("\x94\x00\x01\xc0\x80", 5, 1, "bad_request");
	assert_error("\x94\x00\x02\xa5stats\x81\xa7"
		     "classes\x01",
		     19, 2, "bad_request");
	assert_error("\x94\x00\x02\xa5stats\x05", 10, 2, "bad_request");
	assert_error("\x94\x00\xce\xff\xff\xff\xff\xa4trim\x92\x80\x80", 15, UINT32_MAX, "bad_request");
	assert_int_equal(made_up.trim_calls + made_up.stats_calls, 0);
}

static void test_what_needs_no_answer(void **state)
{
	(void)state;

	assert_int_equal(give("\x94\x01\x00\xc0\x80", 5), AGENT_ANSWER_WELCOME);
	assert_int_equal(give("\x94\x01\x00\x80\xc0", 5), AGENT_ANSWER_DROP); /* hello refused */
	assert_int_equal(give("\x94\x01\x09\xc0\x80", 5), AGENT_ANSWER_NONE);
	assert_int_equal(give("\x94\x01\x09\x80\xc0", 5), AGENT_ANSWER_NONE);
	assert_int_equal(give("\x93\x02\xa4trim\x80", 8), AGENT_ANSWER_NONE);
	assert_int_equal(give("\x94\x05\x00\xa4trim\x80", 9), AGENT_ANSWER_DROP);
	assert_int_equal(give("\x93\x01\x02\x03", 4), AGENT_ANSWER_DROP);
	assert_int_equal(made_up.trim_calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hello, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stats_totals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stats_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_many_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_map, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_trim, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_trim_of_a_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_requests, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_needs_no_answer, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("agent_answer", tests, NULL, NULL);
}
