/*
 * One block allocated, its first word written, and freed, over and over: the shortest way through an allocator. One
 * function per size, so that the compiler knows it where the caller's code would. C and C++.
 */
#include "adapter.h"
#include "work.h"

#define PAIRS 20000

#define DEFINE_PAIRS(bytes)                                 \
	static void pairs_##bytes(void *context)            \
	{                                                   \
		(void)context;                              \
		for (int i = 0; i < PAIRS; i++) {           \
			void *block = ADAPTER_ALLOC(bytes); \
			child_use(block);                   \
			ADAPTER_FREE(block, bytes);         \
		}                                           \
	}

DEFINE_PAIRS(16)
DEFINE_PAIRS(24)
DEFINE_PAIRS(32)
DEFINE_PAIRS(64)
DEFINE_PAIRS(256)

void work_pair(const struct run *run, struct outcome *outcome)
{
	switch (run->workload->parameter) {
	case 16:
		child_repeat(run, outcome, PAIRS, pairs_16, NULL);
		break;
	case 24:
		child_repeat(run, outcome, PAIRS, pairs_24, NULL);
		break;
	case 32:
		child_repeat(run, outcome, PAIRS, pairs_32, NULL);
		break;
	case 64:
		child_repeat(run, outcome, PAIRS, pairs_64, NULL);
		break;
	case 256:
		child_repeat(run, outcome, PAIRS, pairs_256, NULL);
		break;
	default:
		child_check(false, "no pairs of this size");
	}
}
