/*
 * Larson's server: each worker owns 5,000 slots with blocks of 16 to 1,000 bytes and replaces random ones; after as
 * many steps as it has slots it ends, and a new thread inherits the slots with all blocks in them. So most blocks are
 * freed by a thread that did not allocate them. One chain of threads for each processor, at least two. The time is that
 * of all chains together, divided by their steps.
 */
#include "adapter.h"
#include "work.h"

#include <pthread.h>

#define SLOTS 5000u
#define SIZE_MIN 16u
#define SIZE_MAX_ 1000u
#define CHAINS_MAX 8u

struct slot {
	char *block;
	size_t size;
};

struct chain {
	pthread_t keeper;
	uint64_t end_ns;     /* no new worker after this moment, */
	uint64_t ops_wanted; /* unless there is a number of steps to do */
	uint64_t ops, random;
	struct slot slots[SLOTS];
};

static void fill(struct chain *chain, struct slot *slot)
{
	slot->size = SIZE_MIN + (size_t)(child_random(&chain->random) >> 32) % (SIZE_MAX_ - SIZE_MIN + 1);
	slot->block = (char *)adapter_alloc(slot->size);
	child_check(slot->block != NULL, "out of memory");
	slot->block[slot->size - 1] = 1;
	child_use(slot->block);
}

static void *worker(void *context)
{
	struct chain *chain = (struct chain *)context;
	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *slot = &chain->slots[(child_random(&chain->random) >> 32) % SLOTS];
		adapter_free(slot->block, slot->size);
		fill(chain, slot);
	}
	chain->ops += SLOTS;
	return NULL;
}

/* Starts worker after worker; itself it touches no block. */
static void *keeper(void *context)
{
	struct chain *chain = (struct chain *)context;
	do {
		pthread_t thread;
		child_check(pthread_create(&thread, NULL, worker, chain) == 0, "cannot create a thread");
		pthread_join(thread, NULL);
	} while (chain->ops_wanted ? chain->ops < chain->ops_wanted : child_now_ns() < chain->end_ns);
	return NULL;
}

void work_churn(const struct run *run, struct outcome *outcome)
{
	unsigned count = run->cpu_count < 2 ? 2 : run->cpu_count > CHAINS_MAX ? CHAINS_MAX : run->cpu_count;
	struct chain *chains = (struct chain *)child_map(count * sizeof *chains);
	outcome->base_rss_bytes = child_rss_bytes();
	for (unsigned i = 0; i < count; i++) {
		chains[i].random = 0x9e3779b97f4a7c15u + i;
		for (unsigned j = 0; j < SLOTS; j++)
			fill(&chains[i], &chains[i].slots[j]);
	}
	uint64_t start = child_now_ns();
	for (unsigned i = 0; i < count; i++) {
		chains[i].end_ns = start + (uint64_t)(run->work_ms * 1e6);
		chains[i].ops_wanted = run->ops / count;
		child_check(pthread_create(&chains[i].keeper, NULL, keeper, &chains[i]) == 0, "cannot create a thread");
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(chains[i].keeper, NULL);
		outcome->ops += chains[i].ops;
	}
	outcome->ns_per_op = (double)(child_now_ns() - start) / (double)outcome->ops;
}
