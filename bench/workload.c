/*
 * One row per workload. The figures to reach are those of the issue that asked for the benchmarks: what counts for a
 * size the compiler knows is libqa-sized, what counts for a size it does not know is libqa.
 */
#include "workload.h"

#include <string.h>

#define PAIR_TEXT "a block allocated, written and freed; the compiler knows the size"
#define UNKNOWN_TEXT "a block allocated, written and freed; the size is known at run time only"

const struct workload workloads[] = {
	{"pair-16", GROUP_PAIR, 16, 0, 0.5, PAIR_TEXT},
	{"pair-24", GROUP_PAIR, 24, 0, 0.5, PAIR_TEXT},
	{"pair-32", GROUP_PAIR, 32, 0, 0.5, PAIR_TEXT},
	{"pair-64", GROUP_PAIR, 64, 0, 0.5, PAIR_TEXT},
	{"pair-256", GROUP_PAIR, 256, 0, 0.5, PAIR_TEXT},
	{"pair-16-unknown", GROUP_PAIR_UNKNOWN, 16, 0.9, 0, UNKNOWN_TEXT},
	{"pair-24-unknown", GROUP_PAIR_UNKNOWN, 24, 0.9, 0, UNKNOWN_TEXT},
	{"pair-32-unknown", GROUP_PAIR_UNKNOWN, 32, 0.9, 0, UNKNOWN_TEXT},
	{"pair-64-unknown", GROUP_PAIR_UNKNOWN, 64, 0.9, 0, UNKNOWN_TEXT},
	{"pair-256-unknown", GROUP_PAIR_UNKNOWN, 256, 0.9, 0, UNKNOWN_TEXT},
	{"batch-in-order", GROUP_BATCH, BATCH_IN_ORDER, 1.0, 0.7, "1,000 blocks of 32 bytes, freed as allocated"},
	{"batch-reversed", GROUP_BATCH, BATCH_REVERSED, 1.0, 0.7, "1,000 blocks of 32 bytes, the last freed first"},
	{"batch-shuffled", GROUP_BATCH, BATCH_SHUFFLED, 1.0, 0.7, "1,000 blocks of 32 bytes, freed in random order"},
	{"random-live", GROUP_LIVE, 0, 1.0, 1.0, "one of 100,000 slots (16-1,024 bytes) freed and filled anew"},
	{"server-churn", GROUP_CHURN, 0, 1.0, 1.0,
	 "a slot freed and filled; new threads inherit old ones' blocks (Larson)"},
	{"producer-consumer", GROUP_HANDOVER, 0, 1.0, 1.0, "a block allocated by one thread and freed by another"},
	{"shrink-runs", GROUP_SHRINK, SURVIVORS_RUNS, 0, 0, "a block allocated; 99 % freed, runs survive; trim"},
	{"shrink-hundredth", GROUP_SHRINK, SURVIVORS_HUNDREDTH, 0, 0, "the same, every hundredth survives; trim"},
	{"shrink-random", GROUP_SHRINK, SURVIVORS_RANDOM, 0, 0, "the same, 1 % at random survives; trim"},
	{"short-threads", GROUP_THREADS, 0, 1.0, 1.0, "a thread that starts, uses 64 blocks and ends"},
	{"large-buffers", GROUP_BUFFERS, 0, 0, 0, "one of 8 slots (40 KiB-1 MiB, written) freed and filled anew"},
	{"large-realloc", GROUP_LARGE, 0, 0, 0, "a buffer grown by realloc from 256 KiB to 8 MiB, written, freed"},
};
const size_t workload_count = sizeof workloads / sizeof workloads[0];

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < workload_count; i++) {
		if (strcmp(workloads[i].name, name) == 0)
			return &workloads[i];
	}
	return NULL;
}
