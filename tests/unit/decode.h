/*
 * decode.h - a frame as bytes becomes a message, for tests of what reads messages.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdlib.h>

#include "frame.h"
#include "protocol.h"
#include "read.h"
#include "test.h"

/* Decodes bytes that are one frame, after the scan. Both kinds of memory must agree; the caller finishes it. */
static inline int decode(struct qp_message *message, const void *bytes, size_t size_bytes)
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

#endif
