/* The two halves of trim-delay: what a trim costs other threads, and what it costs itself. */
#ifndef BENCH_TRIM_DELAY_H
#define BENCH_TRIM_DELAY_H

#include "histogram.h"

#include <stdbool.h>

struct delay_options {
	unsigned trims;        /* in all; as often the same without a trim */
	unsigned trims_a_turn; /* then the other kind has its turn */
	size_t waste_bytes;    /* that the trimming thread allocates and frees before each trim */
	bool is_fifo;          /* the measured thread has a real-time priority */
};

struct delay_result {
	struct histogram without, with;
	double trim_ms; /* the median of the trims */
	uint64_t threads_skipped;
	bool is_fifo; /* it was allowed */
};

void trim_delay_measure(const struct delay_options *options, struct delay_result *result);

enum cost_survivors { COST_NONE, COST_RUNS, COST_HUNDREDTH, COST_KINDS };

struct cost_result {
	uint64_t returned_bytes, runs; /* what trim returned, and in how many runs of OS pages; of the last round */
	double trim_ms, madvise_ms;    /* medians */
	double ratio;                  /* the median of the rounds' ratios */
};

/* Fills results[COST_KINDS]. */
void trim_cost_measure(size_t bytes, unsigned rounds, struct cost_result *results);

#endif
