/*
 * A thin skin over msgpack-c's packer, whose output goes to a qp_buffer. The packer's own return values are not looked
 * at: the buffer remembers the first append that did not fit and refuses all later ones.
 */
#include "write.h"

#include <msgpack.h>
#include <string.h>

#include "protocol.h"
#include "utf8.h"

static int append_packed(void *data, const char *bytes, size_t size_bytes)
{
	struct qp_buffer *out = data;

	qp_buffer_append(out, bytes, size_bytes);
	return out->failed ? -1 : 0;
}

static msgpack_packer packer_to(struct qp_buffer *out)
{
	msgpack_packer packer;

	msgpack_packer_init(&packer, out, append_packed);
	return packer;
}

void qp_write_map(struct qp_buffer *out, uint32_t pairs)
{
	msgpack_packer packer = packer_to(out);

	msgpack_pack_map(&packer, pairs);
}

void qp_write_array(struct qp_buffer *out, uint32_t elements)
{
	msgpack_packer packer = packer_to(out);

	msgpack_pack_array(&packer, elements);
}

void qp_write_string(struct qp_buffer *out, const char *text)
{
	msgpack_packer packer = packer_to(out);
	size_t bytes = strlen(text);

	bytes = qp_utf8_cut(text, bytes, QP_STRING_BYTES);
	msgpack_pack_str(&packer, bytes);
	msgpack_pack_str_body(&packer, text, bytes);
}

void qp_write_u64(struct qp_buffer *out, uint64_t value)
{
	msgpack_packer packer = packer_to(out);

	msgpack_pack_uint64(&packer, value);
}

void qp_write_bool(struct qp_buffer *out, bool value)
{
	msgpack_packer packer = packer_to(out);

	if (value)
		msgpack_pack_true(&packer);
	else
		msgpack_pack_false(&packer);
}

void qp_write_nil(struct qp_buffer *out)
{
	msgpack_packer packer = packer_to(out);

	msgpack_pack_nil(&packer);
}

void qp_write_request(struct qp_buffer *out, uint32_t id, const char *method)
{
	qp_write_array(out, 4);
	qp_write_u64(out, 0);
	qp_write_u64(out, id);
	qp_write_string(out, method);
}

void qp_write_result(struct qp_buffer *out, uint32_t id)
{
	qp_write_array(out, 4);
	qp_write_u64(out, 1);
	qp_write_u64(out, id);
	qp_write_nil(out);
}

void qp_write_error_begin(struct qp_buffer *out, uint32_t id, const char *code, const char *message,
			  uint32_t extra_pairs)
{
	qp_write_array(out, 4);
	qp_write_u64(out, 1);
	qp_write_u64(out, id);
	qp_write_map(out, 2 + extra_pairs);
	qp_write_key_string(out, "code", code);
	qp_write_key_string(out, "message", message);
}

void qp_write_error_end(struct qp_buffer *out)
{
	qp_write_nil(out);
}

void qp_write_error(struct qp_buffer *out, uint32_t id, const char *code, const char *message)
{
	qp_write_error_begin(out, id, code, message, 0);
	qp_write_error_end(out);
}

void qp_write_notification(struct qp_buffer *out, const char *method)
{
	qp_write_array(out, 3);
	qp_write_u64(out, 2);
	qp_write_string(out, method);
}

void qp_write_key_string(struct qp_buffer *out, const char *key, const char *text)
{
	qp_write_string(out, key);
	qp_write_string(out, text);
}

void qp_write_key_u64(struct qp_buffer *out, const char *key, uint64_t value)
{
	qp_write_string(out, key);
	qp_write_u64(out, value);
}

void qp_write_key_bool(struct qp_buffer *out, const char *key, bool value)
{
	qp_write_string(out, key);
	qp_write_bool(out, value);
}
