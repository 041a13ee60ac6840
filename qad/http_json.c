/*
 * What HTTP tells is written by the same functions as what the socket tells, in MessagePack, and then turned into
 * JSON: so both have the same keys by construction. It costs little, as an answer is made once for all who ask.
 */
#include "http_json.h"

#include <msgpack.h>

#include <microhttpd.h>

/* An answer has few levels, and all of it is ours. */
static json_t *to_json(const msgpack_object *value);

/* JSON's numbers have no size; beyond 63 bits jansson has none, and no figure gets there. */
static json_t *from_u64(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *from_array(const msgpack_object_array *array)
{
	json_t *json = json_array();

	for (uint32_t i = 0; i < array->size && json != NULL; i++) {
		if (json_array_append_new(json, to_json(&array->ptr[i])) == 0)
			continue;
		json_decref(json);
		json = NULL;
	}
	return json;
}

static json_t *from_map(const msgpack_object_map *map)
{
	json_t *json = json_object();

	for (uint32_t i = 0; i < map->size && json != NULL; i++) {
		const msgpack_object_str *key = &map->ptr[i].key.via.str;
		char name[64];

		if (key->size < sizeof(name)) {
			memcpy(name, key->ptr, key->size);
			name[key->size] = '\0';
			if (json_object_set_new_nocheck(json, name, to_json(&map->ptr[i].val)) == 0)
				continue;
		}
		json_decref(json);
		json = NULL;
	}
	return json;
}

static json_t *to_json(const msgpack_object *value)
{
	switch (value->type) {
	case MSGPACK_OBJECT_BOOLEAN:
		return json_boolean(value->via.boolean);
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		return from_u64(value->via.u64);
	case MSGPACK_OBJECT_STR:
		return json_stringn(value->via.str.ptr, value->via.str.size);
	case MSGPACK_OBJECT_ARRAY:
		return from_array(&value->via.array);
	case MSGPACK_OBJECT_MAP:
		return from_map(&value->via.map);
	default:
		return json_null();
	}
}

struct qp_buffer *http_begin_frame(struct http_job *job)
{
	return service_begin_frame(job->service);
}

void http_answer_frame(struct http_job *job)
{
	const struct qp_buffer *out = &job->service->out;
	msgpack_unpacked unpacked;
	size_t offset = 0;
	json_t *json = NULL;

	if (out->failed) {
		service_end_frame(job->service);
		http_fail(job, MHD_HTTP_SERVICE_UNAVAILABLE, "failed",
			  "the answer is larger than an answer may be, or qad is out of memory");
		return;
	}
	msgpack_unpacked_init(&unpacked);
	if (msgpack_unpack_next(&unpacked, (const char *)out->data, out->used_bytes, &offset) == MSGPACK_UNPACK_SUCCESS)
		json = to_json(&unpacked.data);
	msgpack_unpacked_destroy(&unpacked);
	service_end_frame(job->service);
	http_answer_json(job, MHD_HTTP_OK, json);
}
