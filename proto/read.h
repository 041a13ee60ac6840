/*
 * read.h - decodes one whole, scanned frame and reads its maps.
 *
 * msgpack-c builds the tree of objects; struct qp_message owns it. A reader looks up keys in one map of it, with a
 * sticky error: read all keys, then test reader.bad once; it names the first key that was missing or of the wrong type.
 * Of a key that comes twice the first counts. Strings stay in the frame's bytes (no copy, no NUL): valid until
 * qp_message_finish, and only while the frame's bytes are.
 */
#ifndef QP_READ_H
#define QP_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <msgpack.h>

enum qp_kind { QP_REQUEST = 0, QP_RESPONSE = 1, QP_NOTIFICATION = 2 };

struct qp_message {
	enum qp_kind kind;
	uint32_t id; /* 0 in a notification */
	/*
	 * "" in a response, and when it is not a string: bad_request. One of 32 bytes or more is "?", which no method
	 * is called.
	 */
	char method[32];
	bool has_error; /* response: body is the error, not the result */
	/* params, result or error: a map (an empty or one-element array is unwrapped), or what else came */
	msgpack_object body;
	msgpack_zone zone;
};

/*
 * Decodes a frame that qp_frame_scan called whole. 0; -EBADMSG: not a message, the peer is to be dropped; -ENOMEM.
 * On success the caller ends with qp_message_finish.
 */
int qp_message_decode(struct qp_message *message, const uint8_t *frame, size_t frame_bytes);

/*
 * The same without malloc: the tree is built in memory of the caller, aligned to 8 bytes and of at least
 * QP_MESSAGE_MEMORY(frame_bytes) bytes (less: -ENOMEM), which has to stay until qp_message_finish.
 */
#define QP_MESSAGE_MEMORY(frame_bytes) ((frame_bytes) * sizeof(msgpack_object))
int qp_message_decode_in(struct qp_message *message, const uint8_t *frame, size_t frame_bytes, void *memory,
			 size_t memory_bytes);

void qp_message_finish(struct qp_message *message);

struct qp_reader {
	const msgpack_object *map; /* NULL: every key is missing */
	const char *bad;           /* the first key in error, or NULL */
};

/* A reader over a map; of anything else: an empty one whose bad is "params". */
struct qp_reader qp_reader_of(const msgpack_object *object);

/* Required keys: 0, false or "" and bad set when missing or of the wrong type. */
uint64_t qp_read_u64(struct qp_reader *reader, const char *key);
bool qp_read_bool(struct qp_reader *reader, const char *key);
/* Copies at most size_bytes - 1 bytes, cut at a whole UTF-8 character, and a NUL. A byte that is 0 ends it. */
void qp_read_string(struct qp_reader *reader, const char *key, char *text, size_t size_bytes);

/* Optional keys: the default when missing; bad set when present but of the wrong type. */
uint64_t qp_read_u64_or(struct qp_reader *reader, const char *key, uint64_t missing);
bool qp_read_bool_or(struct qp_reader *reader, const char *key, bool missing);
void qp_read_string_or(struct qp_reader *reader, const char *key, char *text, size_t size_bytes, const char *missing);

/* The value of a key, or NULL; never sets bad. */
const msgpack_object *qp_read_value(struct qp_reader *reader, const char *key);
/* A required array: its elements and their number; NULL and bad set when missing or of the wrong type. */
const msgpack_object *qp_read_array(struct qp_reader *reader, const char *key, size_t *elements);

#endif
