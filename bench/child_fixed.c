/* What an allocator of one size, known to the compiler, is measured with. */
#include "work.h"

work_function *const child_work[GROUP_COUNT] = {
	[GROUP_PAIR] = work_pair,
	[GROUP_BATCH] = work_batch,
	[GROUP_HANDOVER] = work_handover,
};
