/*
 * 1,000 blocks of 32 bytes allocated, then all freed: in the order of allocation, the last first, or shuffled (one
 * fixed shuffle). More than most caches of a thread hold by default, less than any machine's. C and C++.
 */
#include "adapter.h"
#include "work.h"

#define BLOCKS 1000
#define BLOCK_BYTES 32
#define BATCHES 10

struct batch {
	void *blocks[BLOCKS];
	unsigned order[BLOCKS]; /* in which they are freed */
};

static void batches(void *context)
{
	struct batch *batch = (struct batch *)context;
	for (int i = 0; i < BATCHES; i++) {
		for (int j = 0; j < BLOCKS; j++) {
			batch->blocks[j] = ADAPTER_ALLOC(BLOCK_BYTES);
			child_use(batch->blocks[j]);
		}
		for (int j = 0; j < BLOCKS; j++)
			ADAPTER_FREE(batch->blocks[batch->order[j]], BLOCK_BYTES);
	}
}

void work_batch(const struct run *run, struct outcome *outcome)
{
	struct batch *batch = (struct batch *)child_map(sizeof *batch);
	uint64_t random = 88172645463325252u;
	for (unsigned i = 0; i < BLOCKS; i++)
		batch->order[i] = run->workload->parameter == BATCH_REVERSED ? BLOCKS - 1 - i : i;
	for (unsigned i = BLOCKS - 1; run->workload->parameter == BATCH_SHUFFLED && i > 0; i--) {
		unsigned j = (unsigned)(child_random(&random) % (i + 1)), other = batch->order[j];
		batch->order[j] = batch->order[i];
		batch->order[i] = other;
	}
	outcome->base_rss_bytes = child_rss_bytes();
	child_repeat(run, outcome, BATCHES * BLOCKS, batches, batch);
}
