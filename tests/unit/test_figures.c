/*
 * Figures as messages: what is written is read, under the keys of docs/PROTOCOL.md, and what is left out is named.
 */
#include "test.h"

#include <string.h>

#include "decode.h"
#include "figures.h"
#include "write.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_round_trip),  cmocka_unit_test(test_figures_round_trip),
		cmocka_unit_test(test_trim_round_trip), cmocka_unit_test(test_keys),
		cmocka_unit_test(test_missing_figure),  cmocka_unit_test(test_out_of_room_at_every_byte),
	};
	return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
