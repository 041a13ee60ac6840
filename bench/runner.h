/* Runs one measured program to its end. */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include "allocator.h"

#include <stdint.h>

/* What one process measured. */
struct sample {
	double ns_per_op;
	double peak_rss_bytes, after_rss_bytes, base_rss_bytes, live_page_bytes;
	double trim_ms;
};

struct runner_order {
	const struct allocator *allocator;
	const struct workload *workload;
	double work_ms;
	bool is_quiet; /* what the program says on stderr goes into the message only */
};

/* False: it did not work, and message says why. */
bool runner_run(const struct runner_order *order, struct sample *sample, char *message, size_t message_size);

#endif
