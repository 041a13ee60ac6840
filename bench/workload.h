/*
 * The workloads by name, as the driver and the measured processes both know them. docs/PERFORMANCE.md says what each
 * does and where its description comes from.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the work is; an allocator takes part in whole groups. */
enum workload_group {
	GROUP_PAIR,         /* one block of a size that the compiler knows, allocated and freed */
	GROUP_PAIR_UNKNOWN, /* the same with a size that it does not know */
	GROUP_BATCH,        /* 1,000 allocations, then 1,000 frees */
	GROUP_LIVE,
	GROUP_CHURN,
	GROUP_HANDOVER,
	GROUP_SHRINK,
	GROUP_THREADS,
	GROUP_BUFFERS,
	GROUP_LARGE,
	GROUP_COUNT,
};

enum batch_order { BATCH_IN_ORDER, BATCH_REVERSED, BATCH_SHUFFLED };
enum shrink_survivors { SURVIVORS_RUNS, SURVIVORS_HUNDREDTH, SURVIVORS_RANDOM };

struct workload {
	const char *name;
	enum workload_group group;
	unsigned parameter; /* bytes of a pair, enum batch_order or enum shrink_survivors */
	double reach;       /* libqa's time must be at most this times the fastest peer's; 0: nothing is asked */
	double reach_sized; /* the same for libqa-sized */
	const char *text;   /* what one operation is */
};

extern const struct workload workloads[];
extern const size_t workload_count;

/* NULL when there is none of this name. */
const struct workload *workload_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
