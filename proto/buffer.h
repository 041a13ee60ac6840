/*
 * buffer.h - bytes that wait: read but not yet decoded, or encoded but not yet written.
 *
 * One contiguous array, used bytes at its front; grows by doubling up to limit_bytes. The memory comes from malloc, or,
 * when grow is false, is the caller's and fixed (the agent: nothing of it may come from the program's allocator).
 * Append fails once and stays failed, so that a chain of appends is tested once at its end.
 */
#ifndef QP_BUFFER_H
#define QP_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qp_buffer {
	uint8_t *data;
	size_t used_bytes;
	size_t capacity_bytes;
	size_t limit_bytes;
	bool grow;
	bool failed; /* an append did not fit or found no memory; the contents are of no use */
};

void qp_buffer_init(struct qp_buffer *buffer, size_t limit_bytes);
void qp_buffer_init_fixed(struct qp_buffer *buffer, void *data, size_t capacity_bytes);
void qp_buffer_finish(struct qp_buffer *buffer);

/* Room for at least size_bytes after the used ones: where to write, or NULL (then failed is set). */
uint8_t *qp_buffer_reserve(struct qp_buffer *buffer, size_t size_bytes);
void qp_buffer_append(struct qp_buffer *buffer, const void *data, size_t size_bytes);

/* Drops bytes from the front. */
void qp_buffer_consume(struct qp_buffer *buffer, size_t size_bytes);

/* Empties it and clears failed; keeps the memory. */
void qp_buffer_reset(struct qp_buffer *buffer);

#endif
