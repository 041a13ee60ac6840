/*
 * write.h - encodes frames into a qp_buffer, through msgpack-c's packer.
 *
 * A frame that was begun and does not fit leaves buffer->failed set; the caller tests that once, at the end.
 * Structs of figures are written by figures.h.
 */
#ifndef QP_WRITE_H
#define QP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* [0, id, method, <params>]: the caller writes the params map next. */
void qp_write_request(struct qp_buffer *out, uint32_t id, const char *method);
/* [1, id, nil, <result>]: the caller writes the result map next. */
void qp_write_result(struct qp_buffer *out, uint32_t id);
/*
 * [1, id, {code, message, + extra_pairs}, nil] in two parts: between them the caller writes extra_pairs keys with
 * values.
 */
void qp_write_error_begin(struct qp_buffer *out, uint32_t id, const char *code, const char *message,
			  uint32_t extra_pairs);
void qp_write_error_end(struct qp_buffer *out);
/* The usual error, whole. */
void qp_write_error(struct qp_buffer *out, uint32_t id, const char *code, const char *message);
/* [2, method, <params>]. */
void qp_write_notification(struct qp_buffer *out, const char *method);

void qp_write_map(struct qp_buffer *out, uint32_t pairs);
void qp_write_array(struct qp_buffer *out, uint32_t elements);
void qp_write_string(struct qp_buffer *out, const char *text);
void qp_write_u64(struct qp_buffer *out, uint64_t value);
void qp_write_bool(struct qp_buffer *out, bool value);
void qp_write_nil(struct qp_buffer *out);

/* A key and its value. */
void qp_write_key_string(struct qp_buffer *out, const char *key, const char *text);
void qp_write_key_u64(struct qp_buffer *out, const char *key, uint64_t value);
void qp_write_key_bool(struct qp_buffer *out, const char *key, bool value);

#endif
