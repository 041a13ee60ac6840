/*
 * http_counters.h - what HTTP did, for `health` and for metrics about qad itself. All zero while HTTP is off.
 */
#ifndef QAD_HTTP_COUNTERS_H
#define QAD_HTTP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct http_counters {
	bool is_on, allows_trim;
	uint64_t connections;  /* now */
	uint64_t memory_bytes; /* of answers that are kept or being sent, now */
	uint64_t requests;     /* ever; also refused ones */
	uint64_t refused;      /* requests that got a status of 400 or above */
	uint64_t timeouts;     /* connections ended because a time of theirs was over */
	uint64_t scrapes;      /* requests of /metrics that were answered */
	uint64_t rounds;       /* how often all targets were asked for HTTP */
};

#endif
