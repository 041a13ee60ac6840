/*
 * json_read.h - reads back what json.h makes, in a recording.
 */
#ifndef QACTL_JSON_READ_H
#define QACTL_JSON_READ_H

#include <stdbool.h>

#include "json.h"

/* Like struct qp_reader: read all keys, then test bad once; it names the first that is missing or of a wrong type. */
struct json_reader {
	const json_t *object; /* anything else than an object: every key is missing */
	const char *bad;
};

uint64_t json_read_u64(struct json_reader *reader, const char *key);
bool json_read_bool(struct json_reader *reader, const char *key);
/* Cut at a whole character when text_bytes is too small. */
void json_read_text(struct json_reader *reader, const char *key, char *text, size_t text_bytes);

/* target_finish belongs to it, even after an error. */
void json_read_target(struct json_reader *reader, struct target *target);
void json_read_class(struct json_reader *reader, struct qp_class *row);

#endif
