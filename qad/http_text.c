/*
 * Headers are read for what is asked of them and no further; what is not understood counts as not there, or, where
 * that would open a door, as wrong.
 */
#include "http_text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

static bool is_port(const char *text)
{
	size_t digits;

	if (*text == '\0')
		return true;
	digits = strspn(text + 1, "0123456789");
	return *text == ':' && digits <= 5 && text[1 + digits] == '\0';
}

bool http_host_name(const char *header, char *name, size_t size_bytes)
{
	size_t bytes = 0;

	if (header[0] == '[') {
		bytes = 1 + strspn(header + 1, "0123456789abcdefABCDEF:.");
		if (bytes == 1 || header[bytes] != ']')
			return false;
		bytes++;
	} else {
		while (isalnum((unsigned char)header[bytes]) || (bytes > 0 && strchr("-._", header[bytes]) != NULL)) {
			if (header[bytes] == '\0')
				break;
			bytes++;
		}
	}
	if (bytes == 0 || bytes >= size_bytes || !is_port(header + bytes))
		return false;
	for (size_t i = 0; i < bytes; i++)
		name[i] = (char)tolower((unsigned char)header[i]);
	name[bytes] = '\0';
	return true;
}

/* An IPv6 address of a name in brackets; false: it is none. */
static bool read_six(const char *name, struct in6_addr *address)
{
	char inner[INET6_ADDRSTRLEN];
	size_t bytes = strlen(name);

	if (name[0] != '[' || bytes < 3 || bytes - 2 >= sizeof(inner))
		return false;
	memcpy(inner, name + 1, bytes - 2);
	inner[bytes - 2] = '\0';
	return inet_pton(AF_INET6, inner, address) == 1;
}

bool http_host_is_literal(const char *name)
{
	struct in_addr four;
	struct in6_addr six;

	return inet_pton(AF_INET, name, &four) == 1 || read_six(name, &six);
}

bool http_host_is_loopback(const char *name)
{
	struct in6_addr six;

	return strcmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
	       (read_six(name, &six) && IN6_IS_ADDR_LOOPBACK(&six));
}

/* The weight q of an element of Accept, in thousandths: 1000 without one, 0 when it is not understood. */
static int weight_of(const char *parameters, size_t bytes)
{
	const char *end = parameters + bytes, *at = parameters;

	while (at < end) {
		at += strspn(at, "; \t");
		if (at + 2 < end && tolower((unsigned char)at[0]) == 'q' && at[1] == '=') {
			int whole = at[2] - '0', weight = 0, unit = 100;

			if (whole != 0 && whole != 1)
				return 0;
			for (at += 3; at < end && (*at == '.' || isdigit((unsigned char)*at)) && unit > 0; at++) {
				if (*at == '.')
					continue;
				weight += (*at - '0') * unit;
				unit /= 10;
			}
			return whole == 1 ? 1000 : weight;
		}
		while (at < end && *at != ';')
			at++;
	}
	return 1000;
}

/* The greatest weight that the header gives to a type. */
static int weight_in(const char *accept, const char *type)
{
	size_t type_bytes = strlen(type);
	int greatest = 0;

	while (*accept != '\0') {
		accept += strspn(accept, ", \t");
		size_t bytes = strcspn(accept, ",");
		size_t name_bytes = strcspn(accept, ",; \t");

		if (name_bytes == type_bytes && strncasecmp(accept, type, type_bytes) == 0) {
			int weight = weight_of(accept + name_bytes, bytes - name_bytes);

			greatest = weight > greatest ? weight : greatest;
		}
		accept += bytes;
	}
	return greatest;
}

bool http_prefers_openmetrics(const char *accept)
{
	int open_weight = accept != NULL ? weight_in(accept, "application/openmetrics-text") : 0;

	return open_weight > 0 && open_weight >= weight_in(accept, "text/plain");
}

bool http_read_u64(const char *text, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t sum = 0;

	if (digits == 0 || text[digits] != '\0')
		return false;
	for (size_t i = 0; i < digits; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return true;
}

/* A path segment as a pid: no sign, no leading zero, so that each target has one path. */
static bool read_pid(const char *segment, size_t bytes, pid_t *pid)
{
	char text[11];
	uint64_t value;

	if (bytes == 0 || bytes >= sizeof(text) || segment[0] == '0')
		return false;
	memcpy(text, segment, bytes);
	text[bytes] = '\0';
	if (!http_read_u64(text, &value) || value > INT_MAX)
		return false;
	*pid = (pid_t)value;
	return true;
}

bool http_path_is(const char *pattern, const char *path, pid_t *pid, char *rest, size_t size_bytes)
{
	*pid = 0;
	rest[0] = '\0';
	while (*pattern == '/' && *path == '/') {
		size_t pattern_bytes = strcspn(++pattern, "/");
		size_t bytes = strcspn(++path, "/");

		if (pattern_bytes == 3 && strncmp(pattern, "PID", 3) == 0) {
			if (!read_pid(path, bytes, pid))
				return false;
		} else if (pattern_bytes == 1 && *pattern == '*') {
			if (bytes == 0 || bytes >= size_bytes)
				return false;
			memcpy(rest, path, bytes);
			rest[bytes] = '\0';
		} else if (bytes != pattern_bytes || strncmp(pattern, path, bytes) != 0) {
			return false;
		}
		pattern += pattern_bytes;
		path += bytes;
	}
	return *pattern == '\0' && *path == '\0';
}

const char *http_bearer_token(const char *authorization)
{
	if (strncasecmp(authorization, "Bearer ", 7) != 0)
		return NULL;
	authorization += 7;
	return authorization + strspn(authorization, " ");
}

bool http_is_same_origin(const char *origin, const char *host)
{
	return strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0;
}

bool http_is_secret(const char *given, const char *secret)
{
	size_t bytes = strlen(secret), given_bytes = strlen(given);
	unsigned difference = bytes != given_bytes || bytes == 0;

	for (size_t i = 0; i < bytes; i++)
		difference |= (unsigned char)secret[i] ^ (unsigned char)(given_bytes > 0 ? given[i % given_bytes] : 0);
	return difference == 0;
}
