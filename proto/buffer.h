/*
 * buffer.h - bytes that wait: read but not yet decoded, or encoded but not yet written.
 *
 * The used bytes are data[0 .. used_bytes), contiguous. They lie somewhere in one array of capacity_bytes:
 *
 *     memory          data                  data + used_bytes      memory + capacity_bytes
 *     | consumed, free | used                | free                 |
 *
 * so that dropping frames from the front costs nothing; the used bytes move only when room is needed behind them. The
 * array grows by doubling up to limit_bytes. It comes from malloc, or, when grow is false, is the caller's and fixed
 * (the agent: nothing of it may come from the program's allocator). Append fails once and stays failed, so that a chain
 * of appends is tested once at its end.
 */
#ifndef QP_BUFFER_H
#define QP_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qp_buffer {
	uint8_t *data;
	size_t used_bytes;
	uint8_t *memory;
	size_t capacity_bytes;
	size_t limit_bytes;
	bool grow;
	bool failed; /* an append did not fit or found no memory; the contents are of no use */
};

void qp_buffer_init(struct qp_buffer *buffer, size_t limit_bytes);
void qp_buffer_init_fixed(struct qp_buffer *buffer, void *memory, size_t capacity_bytes);
/* Frees what came from malloc. The buffer is then empty and usable again, as after init. */
void qp_buffer_finish(struct qp_buffer *buffer);

/*
 * Room for at least size_bytes after the used ones: where to write, or NULL (then failed is set). The caller adds what
 * it wrote to used_bytes. How much room there is in all: qp_buffer_room.
 */
uint8_t *qp_buffer_reserve(struct qp_buffer *buffer, size_t size_bytes);
size_t qp_buffer_room(const struct qp_buffer *buffer);
void qp_buffer_append(struct qp_buffer *buffer, const void *data, size_t size_bytes);

/* Drops bytes from the front; at most used_bytes. */
void qp_buffer_consume(struct qp_buffer *buffer, size_t size_bytes);

/* Empties it and clears failed; keeps the memory. */
void qp_buffer_reset(struct qp_buffer *buffer);

#endif
