/*
 * http_text.h - decodes what clients write: the headers and the path that libmicrohttpd hands on as they are.
 *
 * No function here knows a connection; all take any bytes that end with a NUL.
 */
#ifndef QAD_HTTP_TEXT_H
#define QAD_HTTP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The name in a Host header, in small letters, without a port; an IPv6 address keeps its brackets. False when it is
 * no host name, or longer than the room for it.
 */
bool http_host_name(const char *header, char *name, size_t size_bytes);

/* Whether a name, as http_host_name gives it, is an address and thus nothing that a name server could turn to us. */
bool http_host_is_literal(const char *name);
bool http_host_is_loopback(const char *name);

/* Whether a client would rather have OpenMetrics than the text format, by its Accept header; NULL: it has none. */
bool http_prefers_openmetrics(const char *accept);

/*
 * Whether a path is of a pattern, in which a segment PID stands for a decimal pid, and a last segment * for any one.
 * Then *pid is that pid or 0, and rest that segment or "".
 */
bool http_path_is(const char *pattern, const char *path, pid_t *pid, char *rest, size_t size_bytes);

/* A decimal number without sign; false: it is none, or too large. */
bool http_read_u64(const char *text, uint64_t *value);

/* The token of an Authorization header "Bearer TOKEN"; NULL: it is none. */
const char *http_bearer_token(const char *authorization);

/* Whether an Origin header is that of a page which this same host and port gave, by the Host header. */
bool http_is_same_origin(const char *origin, const char *host);

/* Equal, found out in a time that tells nothing of where they differ. */
bool http_is_secret(const char *given, const char *secret);

#endif
