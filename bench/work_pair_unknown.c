/* As work_pair.c, but the size comes out of a register of which the compiler knows nothing. */
#include "adapter.h"
#include "work.h"

#define PAIRS 20000

static void pairs(void *context)
{
	size_t bytes = child_hide(*(const unsigned *)context);
	for (int i = 0; i < PAIRS; i++) {
		void *block = adapter_alloc(bytes);
		child_use(block);
		adapter_free(block, bytes);
	}
}

void work_pair_unknown(const struct run *run, struct outcome *outcome)
{
	unsigned bytes = run->workload->parameter;
	child_repeat(run, outcome, PAIRS, pairs, &bytes);
}
