/* What an allocator of blocks of any size is measured with. */
#include "work.h"

work_function *const child_work[GROUP_COUNT] = {
	[GROUP_PAIR] = work_pair,       [GROUP_PAIR_UNKNOWN] = work_pair_unknown,
	[GROUP_BATCH] = work_batch,     [GROUP_LIVE] = work_live,
	[GROUP_CHURN] = work_churn,     [GROUP_HANDOVER] = work_handover,
	[GROUP_SHRINK] = work_shrink,   [GROUP_THREADS] = work_threads,
	[GROUP_BUFFERS] = work_buffers, [GROUP_LARGE] = work_large,
};
