/*
 * As a peer does with bytes from outside: scan, decode into both kinds of memory, then every reader over the body.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "frame.h"
#include "read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(int holds)
{
	if (!holds)
		abort();
}

static void read_strings(struct qp_reader *reader)
{
	static const char *const keys[] = {"name", "command", "code", "message", "role", "version"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char text[9];

		memset(text, 'x', sizeof(text));
		qp_read_string(reader, keys[i], text, sizeof(text));
		check(memchr(text, 0, sizeof(text)) != NULL);
		qp_read_string_or(reader, keys[i], text, sizeof(text), "a longer default");
		check(memchr(text, 0, sizeof(text)) != NULL);
	}
}

static void read_body(const msgpack_object *body)
{
	struct qp_reader reader = qp_reader_of(body);
	struct qp_totals totals;
	struct qp_trim trim;
	size_t elements;

	qp_read_totals(&reader, &totals);
	qp_read_trim(&reader, &trim);
	qp_read_u64_or(&reader, "pid", 1);
	qp_read_bool(&reader, "classes");
	qp_read_bool_or(&reader, "all_classes", true);
	read_strings(&reader);

	const msgpack_object *rows = qp_read_array(&reader, "classes", &elements);
	check(rows != NULL || elements == 0);
	for (size_t i = 0; i < elements; i++) {
		struct qp_class row;
		struct qp_reader row_reader = qp_reader_of(&rows[i]);

		qp_read_class(&row_reader, &row);
		check(memchr(row.name, 0, sizeof(row.name)) != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct qp_message message, other;
	size_t size;

	if (qp_frame_scan(data, bytes, QP_FRAME_TARGET_BYTES, &size) != QP_FRAME_WHOLE)
		return 0;

	/* Copies of exactly the size, so that a read past the frame is seen. */
	uint8_t *frame = malloc(size);
	void *memory = malloc(QP_MESSAGE_MEMORY(size));
	check(frame != NULL && memory != NULL);
	memcpy(frame, data, size);

	int error = qp_message_decode(&message, frame, size);
	check(qp_message_decode_in(&other, frame, size, memory, QP_MESSAGE_MEMORY(size)) == error);
	if (error == 0) {
		check(memchr(message.method, 0, sizeof(message.method)) != NULL);
		check(other.zone.chunk_list.head == NULL);
		read_body(&message.body);
		read_body(&other.body);
		qp_message_finish(&message);
		qp_message_finish(&other);
	}
	free(memory);
	free(frame);
	return 0;
}
