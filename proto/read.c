/*
 * msgpack-c decodes the frame into a tree in a zone; strings point into the frame. The envelope (kind, id, method) is
 * checked here once, so that callers only see well-formed messages; what is inside the body is checked by the readers,
 * whose errors are answers (bad_request) rather than reasons to drop a peer.
 *
 * For the agent the zone lies in memory of the caller. A tree holds one msgpack_object for each value, each value has
 * at least one byte in the frame, and all pieces are multiples of the alignment: so frame_bytes objects always suffice
 * and the zone never asks malloc for a chunk.
 */
#include "read.h"

#include <errno.h>
#include <string.h>

#include "utf8.h"

/* Most messages are small; a chunk of malloc'd zone for them. */
#define CHUNK_BYTES 2048u

_Static_assert(sizeof(msgpack_object_kv) == 2 * sizeof(msgpack_object), "a pair costs two objects");
_Static_assert(sizeof(msgpack_object) % MSGPACK_ZONE_ALIGN == 0, "no padding between the pieces of a tree");

static bool is_u64_up_to(const msgpack_object *object, uint64_t most)
{
	return object->type == MSGPACK_OBJECT_POSITIVE_INTEGER && object->via.u64 <= most;
}

static void take_method(struct qp_message *message, const msgpack_object *object)
{
	const msgpack_object_str *text = &object->via.str;

	if (object->type != MSGPACK_OBJECT_STR || text->size == 0) /* an empty one has no ptr */
		return;
	if (text->size >= sizeof(message->method) || memchr(text->ptr, 0, text->size) != NULL) {
		strcpy(message->method, "?");
		return;
	}
	memcpy(message->method, text->ptr, text->size);
}

/* Params of stock MessagePack-RPC clients are arrays: of nothing, or of the one map. */
static msgpack_object unwrap(const msgpack_object *params)
{
	if (params->type == MSGPACK_OBJECT_ARRAY) {
		if (params->via.array.size == 0)
			return (msgpack_object){.type = MSGPACK_OBJECT_MAP};
		if (params->via.array.size == 1)
			return params->via.array.ptr[0];
	}
	return *params;
}

static int take_response(struct qp_message *message, const msgpack_object *error, const msgpack_object *result)
{
	bool has_result = result->type != MSGPACK_OBJECT_NIL;

	message->has_error = error->type != MSGPACK_OBJECT_NIL;
	if (message->has_error == has_result)
		return -EBADMSG;
	message->body = has_result ? *result : *error;
	return 0;
}

/* Fills message from the decoded outermost value. */
static int take_envelope(struct qp_message *message, const msgpack_object *root)
{
	const msgpack_object *values = root->via.array.ptr;

	if (root->type != MSGPACK_OBJECT_ARRAY || root->via.array.size < 3 ||
	    !is_u64_up_to(&values[0], QP_NOTIFICATION))
		return -EBADMSG;
	message->kind = (enum qp_kind)values[0].via.u64;

	if (message->kind == QP_NOTIFICATION) {
		if (root->via.array.size != 3)
			return -EBADMSG;
		take_method(message, &values[1]);
		message->body = unwrap(&values[2]);
		return 0;
	}

	if (root->via.array.size != 4 || !is_u64_up_to(&values[1], UINT32_MAX))
		return -EBADMSG;
	message->id = (uint32_t)values[1].via.u64;
	if (message->kind == QP_RESPONSE)
		return take_response(message, &values[2], &values[3]);
	take_method(message, &values[2]);
	message->body = unwrap(&values[3]);
	return 0;
}

/* Decodes into message->zone, which is ready. */
static int decode(struct qp_message *message, const uint8_t *frame, size_t frame_bytes)
{
	msgpack_object root = {.type = MSGPACK_OBJECT_NIL};
	size_t offset = 0;
	msgpack_unpack_return outcome =
		msgpack_unpack((const char *)frame, frame_bytes, &offset, &message->zone, &root);

	if (outcome == MSGPACK_UNPACK_NOMEM_ERROR)
		return -ENOMEM;
	if (outcome != MSGPACK_UNPACK_SUCCESS || offset != frame_bytes)
		return -EBADMSG;
	return take_envelope(message, &root);
}

int qp_message_decode(struct qp_message *message, const uint8_t *frame, size_t frame_bytes)
{
	*message = (struct qp_message){.kind = QP_REQUEST};
	if (!msgpack_zone_init(&message->zone, CHUNK_BYTES))
		return -ENOMEM;

	int error = decode(message, frame, frame_bytes);
	if (error != 0)
		qp_message_finish(message);
	return error;
}

int qp_message_decode_in(struct qp_message *message, const uint8_t *frame, size_t frame_bytes, void *memory,
			 size_t memory_bytes)
{
	*message = (struct qp_message){.kind = QP_REQUEST};
	if (memory_bytes / sizeof(msgpack_object) < frame_bytes)
		return -ENOMEM;

	/* A zone as msgpack_zone_init leaves it, but for its only chunk, which no list owns. */
	message->zone.chunk_list.ptr = memory;
	message->zone.chunk_list.free = memory_bytes;
	message->zone.chunk_size = CHUNK_BYTES;

	int error = decode(message, frame, frame_bytes);
	if (error != 0)
		qp_message_finish(message);
	return error;
}

void qp_message_finish(struct qp_message *message)
{
	/* Of the caller's memory no chunk is listed, and msgpack_zone_destroy expects at least one. */
	if (message->zone.chunk_list.head != NULL)
		msgpack_zone_destroy(&message->zone);
	message->zone = (msgpack_zone){.chunk_size = 0};
	message->body = (msgpack_object){.type = MSGPACK_OBJECT_NIL};
}

struct qp_reader qp_reader_of(const msgpack_object *object)
{
	if (object == NULL || object->type != MSGPACK_OBJECT_MAP)
		return (struct qp_reader){.bad = "params"};
	return (struct qp_reader){.map = object};
}

static void set_bad(struct qp_reader *reader, const char *key)
{
	if (reader->bad == NULL)
		reader->bad = key;
}

const msgpack_object *qp_read_value(struct qp_reader *reader, const char *key)
{
	size_t key_bytes = strlen(key);

	if (reader->map == NULL)
		return NULL;
	for (uint32_t i = 0; i < reader->map->via.map.size; i++) {
		const msgpack_object_kv *pair = &reader->map->via.map.ptr[i];
		const msgpack_object_str *name = &pair->key.via.str;

		if (pair->key.type == MSGPACK_OBJECT_STR && name->size == key_bytes &&
		    memcmp(name->ptr, key, key_bytes) == 0)
			return &pair->val;
	}
	return NULL;
}

/* The value if it has the type. Else NULL, and bad is set unless it is missing and may be. */
static const msgpack_object *typed_value(struct qp_reader *reader, const char *key, msgpack_object_type type,
					 bool may_miss)
{
	const msgpack_object *value = qp_read_value(reader, key);

	if (value != NULL && value->type == type)
		return value;
	if (value != NULL || !may_miss)
		set_bad(reader, key);
	return NULL;
}

static void copy_text(char *text, size_t size_bytes, const char *from, size_t from_bytes)
{
	if (size_bytes == 0)
		return;

	size_t bytes = qp_utf8_cut(from, strnlen(from, from_bytes), size_bytes - 1);
	if (bytes > 0)
		memcpy(text, from, bytes);
	text[bytes] = '\0';
}

uint64_t qp_read_u64(struct qp_reader *reader, const char *key)
{
	const msgpack_object *value = typed_value(reader, key, MSGPACK_OBJECT_POSITIVE_INTEGER, false);

	return value != NULL ? value->via.u64 : 0;
}

uint64_t qp_read_u64_or(struct qp_reader *reader, const char *key, uint64_t missing)
{
	const msgpack_object *value = typed_value(reader, key, MSGPACK_OBJECT_POSITIVE_INTEGER, true);

	return value != NULL ? value->via.u64 : missing;
}

bool qp_read_bool(struct qp_reader *reader, const char *key)
{
	const msgpack_object *value = typed_value(reader, key, MSGPACK_OBJECT_BOOLEAN, false);

	return value != NULL && value->via.boolean;
}

bool qp_read_bool_or(struct qp_reader *reader, const char *key, bool missing)
{
	const msgpack_object *value = typed_value(reader, key, MSGPACK_OBJECT_BOOLEAN, true);

	return value != NULL ? value->via.boolean : missing;
}

void qp_read_string(struct qp_reader *reader, const char *key, char *text, size_t size_bytes)
{
	const msgpack_object *value = typed_value(reader, key, MSGPACK_OBJECT_STR, false);

	copy_text(text, size_bytes, value != NULL ? value->via.str.ptr : "", value != NULL ? value->via.str.size : 0);
}

void qp_read_string_or(struct qp_reader *reader, const char *key, char *text, size_t size_bytes, const char *missing)
{
	const msgpack_object *value = typed_value(reader, key, MSGPACK_OBJECT_STR, true);

	if (value != NULL)
		copy_text(text, size_bytes, value->via.str.ptr, value->via.str.size);
	else
		copy_text(text, size_bytes, missing, strlen(missing));
}

const msgpack_object *qp_read_array(struct qp_reader *reader, const char *key, size_t *elements)
{
	const msgpack_object *value = typed_value(reader, key, MSGPACK_OBJECT_ARRAY, false);

	*elements = value != NULL ? value->via.array.size : 0;
	return value != NULL ? value->via.array.ptr : NULL;
}
