/* The samples of all rounds, and what is computed from them. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "runner.h"

#define ROUNDS_MAX 101

/* One allocator in one workload. */
struct cell {
	const struct workload *workload;
	struct allocator *allocator;
	size_t count;
	struct sample *samples;
};

/* Of one figure over the rounds. */
struct spread {
	double median, min, max;
};

enum figure { FIGURE_NS, FIGURE_PEAK, FIGURE_AFTER, FIGURE_BASE, FIGURE_LIVE, FIGURE_TRIM };

struct results {
	size_t count, rounds;
	struct cell *cells; /* by workload, then by allocator */
};

struct spread results_spread(const struct cell *cell, enum figure figure);
/* The peer of the lowest median of the figure in this cell's workload that may be compared with it; NULL: none. */
const struct cell *results_best_peer(const struct results *results, const struct cell *cell, enum figure figure);
/* The same workload with libqa of the other build; NULL: not measured. */
const struct cell *results_other_build(const struct results *results, const struct cell *cell);
const struct cell *results_floor(const struct results *results, const struct cell *cell);
/* What may be resident after shrink, over what was before it: 1.1 times the pages of live blocks, and 1 MiB. */
double results_bound_bytes(const struct cell *cell);
double results_shrunk_bytes(const struct cell *cell);
/* The sum over the mixed workloads of the peaks of resident memory; 0 where one was not measured. */
double results_mixed_peak_bytes(const struct results *results, const struct allocator *allocator);

#endif
