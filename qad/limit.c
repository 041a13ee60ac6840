/*
 * One row for each limit: its name, where its value lies, the default and what it may be set to. The least values are
 * those with which qactl and an agent still work; the most are those of the protocol, or what memory is charged for.
 */
#include "limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"

struct row {
	const char *name;
	size_t offset;
	uint64_t value, least, most;
};

#define ROW(member, value, least, most)                                      \
	{                                                                    \
#member, offsetof(struct limits, member), value, least, most \
	}
#define DAY_MS 86400000u
#define MANY 1048576u

static const struct row rows[] = {
	ROW(hello_bytes, QP_HELLO_BYTES, 256, QP_FRAME_CLIENT_BYTES),
	ROW(hello_ms, QP_HELLO_TIMEOUT_MS, 10, DAY_MS),
	ROW(frame_target_bytes, QP_FRAME_TARGET_BYTES, 65536, 16u << 20),
	ROW(frame_client_bytes, QP_FRAME_CLIENT_BYTES, 1024, 1u << 20),
	ROW(frame_answer_bytes, QP_FRAME_ANSWER_BYTES, 65536, 64u << 20),
	ROW(connections, QP_CONNECTIONS, 1, MANY),
	ROW(connections_of_user, QP_CONNECTIONS_OF_UID, 1, MANY),
	ROW(before_hello, QP_CONNECTIONS_BEFORE_HELLO, 1, MANY),
	ROW(queue_target_bytes, QP_QUEUE_TARGET_BYTES, 4096, 64u << 20),
	ROW(queue_client_bytes, QP_QUEUE_CLIENT_BYTES, 65536, 256u << 20),
	ROW(memory_of_user_bytes, QP_MEMORY_OF_UID_BYTES, 1u << 20, 1ull << 40),
	ROW(requests_of_client, QP_REQUESTS_OF_CLIENT, 1, 65536),
	ROW(requests_of_user, QP_REQUESTS_OF_UID, 1, MANY),
	ROW(watches_of_client, QP_WATCHES_OF_CLIENT, 0, 65536),
	ROW(watches_of_user, QP_WATCHES_OF_UID, 0, MANY),
	ROW(watch_ms, QP_WATCH_MS, 10, DAY_MS),
	ROW(stats_ms, QP_STATS_TIMEOUT_MS, 10, DAY_MS),
	ROW(trim_ms, QP_TRIM_TIMEOUT_MS, 10, DAY_MS),
	ROW(http_connections, 128, 1, 65536),
	ROW(http_header_bytes, 8192, 512, 1u << 20),
	ROW(http_memory_bytes, 64u << 20, 65536, 1ull << 32),
	ROW(http_request_ms, 10000, 10, DAY_MS),
	ROW(http_idle_ms, 75000, 10, DAY_MS),
	ROW(http_answer_ms, 60000, 10, DAY_MS),
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
_Static_assert(sizeof(struct limits) == ROWS * sizeof(uint64_t), "each limit has a row");

static uint64_t *value_of(struct limits *limits, const struct row *row)
{
	return (uint64_t *)(void *)((char *)limits + row->offset);
}

void limits_init(struct limits *limits)
{
	for (size_t i = 0; i < ROWS; i++)
		*value_of(limits, &rows[i]) = rows[i].value;
}

/* A number with an optional K, M or G. */
static int read_value(const char *text, uint64_t *value)
{
	unsigned shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno != 0)
		return -ERANGE;
	if (*end == 'K')
		shift = 10;
	else if (*end == 'M')
		shift = 20;
	else if (*end == 'G')
		shift = 30;
	if (end[shift != 0] != '\0')
		return -EINVAL;
	if (*value > UINT64_MAX >> shift)
		return -ERANGE;
	*value <<= shift;
	return 0;
}

int limits_set(struct limits *limits, const char *setting)
{
	size_t name_bytes = strcspn(setting, "=");
	uint64_t value;

	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		if (strlen(row->name) != name_bytes || strncmp(row->name, setting, name_bytes) != 0)
			continue;
		if (setting[name_bytes] == '\0')
			return -EINVAL;
		int error = read_value(setting + name_bytes + 1, &value);
		if (error != 0)
			return error;
		if (value < row->least || value > row->most)
			return -ERANGE;
		*value_of(limits, row) = value;
		return 0;
	}
	return -ENOENT;
}

const char *limits_at(const struct limits *limits, size_t number, uint64_t *value, struct limit_range *range)
{
	if (number >= ROWS)
		return NULL;
	*value = *(const uint64_t *)(const void *)((const char *)limits + rows[number].offset);
	*range = (struct limit_range){.least = rows[number].least, .most = rows[number].most};
	return rows[number].name;
}

size_t limits_count(void)
{
	return ROWS;
}
