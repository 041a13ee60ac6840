/*
 * health.h - how qad itself is, for `health`, for JSON and for metrics: one struct, and one table of its keys.
 */
#ifndef QAD_HEALTH_H
#define QAD_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;

/* Bools are 0 or 1. */
struct health {
	uint64_t pid, uptime_s, rss_bytes, cpu_us;
	uint64_t targets, silent_targets, clients, before_hello, users;
	uint64_t questions, stray_answers, trims, trim_bytes;
	uint64_t watches, notifications, dropped_notifications, dropped_peers;
	uint64_t history_bytes, records_all, is_short_of_descriptors;
	uint64_t http_on, http_allows_trim, http_connections, http_memory_bytes;
	uint64_t http_requests, http_refused, http_timeouts, http_scrapes, http_rounds;
};

void health_gather(const struct service *service, struct health *health);

/* The keys of docs/PROTOCOL.md, by their number; NULL behind the last. */
struct health_key {
	const char *name;
	size_t offset;
	bool is_bool;
};
const struct health_key *health_key_at(size_t number);
size_t health_keys(void);
uint64_t health_value(const struct health *health, const struct health_key *key);

#endif
