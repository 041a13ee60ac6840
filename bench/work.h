/* The work functions, by group; each in a file of its own, compiled once for each adapter. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "child.h"

#ifdef __cplusplus
extern "C" {
#endif

work_function work_pair, work_pair_unknown, work_batch, work_live, work_churn, work_handover, work_shrink, work_threads,
	work_buffers, work_large;

#ifdef __cplusplus
}
#endif
#endif
