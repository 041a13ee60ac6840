/*
 * One array, a window of used bytes that slides to its end and is moved back to the front only when an append does not
 * fit behind it. To keep that cheap, a buffer that may grow rather doubles than moves a window of more than half
 * the array; then each byte is moved a bounded number of times however it is filled and drained.
 */
#include "buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 512u

void qp_buffer_init(struct qp_buffer *buffer, size_t limit_bytes)
{
	*buffer = (struct qp_buffer){.limit_bytes = limit_bytes, .grow = true};
}

void qp_buffer_init_fixed(struct qp_buffer *buffer, void *memory, size_t capacity_bytes)
{
	*buffer = (struct qp_buffer){
		.data = memory,
		.memory = memory,
		.capacity_bytes = capacity_bytes,
		.limit_bytes = capacity_bytes,
	};
}

void qp_buffer_finish(struct qp_buffer *buffer)
{
	if (!buffer->grow) {
		qp_buffer_reset(buffer);
		return;
	}
	free(buffer->memory);
	qp_buffer_init(buffer, buffer->limit_bytes);
}

size_t qp_buffer_room(const struct qp_buffer *buffer)
{
	return buffer->capacity_bytes - (size_t)(buffer->data - buffer->memory) - buffer->used_bytes;
}

static void move_to_front(struct qp_buffer *buffer)
{
	if (buffer->used_bytes > 0) {
		assert(buffer->memory != NULL);
		memmove(buffer->memory, buffer->data, buffer->used_bytes);
	}
	buffer->data = buffer->memory;
}

/* The smallest capacity of the doubling series that holds needed_bytes, which is at most the limit. */
static size_t capacity_for(const struct qp_buffer *buffer, size_t needed_bytes)
{
	size_t capacity = buffer->capacity_bytes > 0 ? buffer->capacity_bytes : FIRST_BYTES;

	while (capacity < needed_bytes)
		capacity = capacity > buffer->limit_bytes / 2 ? buffer->limit_bytes : capacity * 2;
	return capacity < buffer->limit_bytes ? capacity : buffer->limit_bytes;
}

static bool grow_to(struct qp_buffer *buffer, size_t capacity)
{
	assert(capacity > 0);
	move_to_front(buffer);

	uint8_t *memory = realloc(buffer->memory, capacity);
	if (memory == NULL)
		return false;
	buffer->data = buffer->memory = memory;
	buffer->capacity_bytes = capacity;
	return true;
}

uint8_t *qp_buffer_reserve(struct qp_buffer *buffer, size_t size_bytes)
{
	if (buffer->failed || size_bytes > buffer->limit_bytes - buffer->used_bytes) {
		buffer->failed = true;
		return NULL;
	}

	size_t needed = buffer->used_bytes + size_bytes;
	if (size_bytes > qp_buffer_room(buffer) || buffer->memory == NULL) {
		bool fits = needed <= buffer->capacity_bytes;
		bool at_limit = !buffer->grow || buffer->capacity_bytes >= buffer->limit_bytes;

		if (fits && (at_limit || buffer->used_bytes <= buffer->capacity_bytes / 2)) {
			move_to_front(buffer);
		} else if (!grow_to(buffer, capacity_for(buffer, fits ? buffer->capacity_bytes + 1 : needed))) {
			buffer->failed = true;
			return NULL;
		}
	}
	return buffer->data + buffer->used_bytes;
}

void qp_buffer_append(struct qp_buffer *buffer, const void *data, size_t size_bytes)
{
	if (size_bytes == 0)
		return; /* of nothing there may be no memory, and no place in it */

	uint8_t *room = qp_buffer_reserve(buffer, size_bytes);
	if (room == NULL)
		return;
	memcpy(room, data, size_bytes);
	buffer->used_bytes += size_bytes;
}

void qp_buffer_consume(struct qp_buffer *buffer, size_t size_bytes)
{
	if (size_bytes >= buffer->used_bytes) {
		buffer->used_bytes = 0;
		buffer->data = buffer->memory;
		return;
	}
	buffer->data += size_bytes;
	buffer->used_bytes -= size_bytes;
}

void qp_buffer_reset(struct qp_buffer *buffer)
{
	buffer->data = buffer->memory;
	buffer->used_bytes = 0;
	buffer->failed = false;
}
