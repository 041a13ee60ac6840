/*
 * limit.h - what qad allows its peers: the table of docs/PROTOCOL.md, each a setting (qad --limit NAME=VALUE).
 *
 * The shape of a frame (depth, lengths of arrays, maps and strings) is no setting: both ends must agree on it.
 */
#ifndef QAD_LIMIT_H
#define QAD_LIMIT_H

#include <stddef.h>
#include <stdint.h>

struct limits {
	uint64_t hello_bytes, hello_ms;
	uint64_t frame_target_bytes, frame_client_bytes, frame_answer_bytes;
	uint64_t connections, connections_of_user, before_hello;
	uint64_t queue_target_bytes, queue_client_bytes, memory_of_user_bytes;
	uint64_t requests_of_client, requests_of_user, watches_of_client, watches_of_user, watch_ms;
	uint64_t stats_ms, trim_ms;
	uint64_t http_connections, http_header_bytes, http_memory_bytes;
	uint64_t http_request_ms, http_idle_ms, http_answer_ms;
};

/* The defaults. */
void limits_init(struct limits *limits);

/*
 * Takes "NAME=VALUE". 0; -ENOENT: no such limit; -EINVAL: no value, or not a number; -ERANGE: outside what is possible.
 * Bytes may end in K, M or G (KiB, MiB, GiB), times are in milliseconds.
 */
int limits_set(struct limits *limits, const char *setting);

/* The name and value of the limit with that number, and the range it may be set to; NULL behind the last. */
struct limit_range {
	uint64_t least, most;
};
const char *limits_at(const struct limits *limits, size_t number, uint64_t *value, struct limit_range *range);
size_t limits_count(void);

#endif
