/*
 * Producer and consumer: one thread allocates blocks of 64 bytes and writes them, another reads and frees them, so that
 * every free is in the other thread. The blocks pass through a ring in groups of 128, so that the ring itself costs
 * little; who waits yields the processor. C and C++.
 */
#include "adapter.h"
#include "work.h"

#include <pthread.h>
#include <sched.h>

#define BLOCK_BYTES 64
#define GROUP 128u
#define RING_GROUPS 64u
#define GROUPS_MEASURED 512u

struct ring {
	uint64_t written __attribute__((aligned(128))); /* groups; producer writes with release, consumer acquires */
	uint64_t read __attribute__((aligned(128)));    /* groups; consumer writes with release, producer acquires */
	bool is_over;                                   /* producer writes before its last written */
	uint64_t sum;
	void *blocks[RING_GROUPS][GROUP];
};

static void wait_until_more(const uint64_t *counter, uint64_t than)
{
	for (unsigned spins = 0; __atomic_load_n(counter, __ATOMIC_ACQUIRE) <= than; spins++) {
		if (spins >= 1000)
			sched_yield();
	}
}

static void *consume(void *context)
{
	struct ring *ring = (struct ring *)context;
	child_pin(1);
	for (uint64_t group = 0;; group++) {
		wait_until_more(&ring->written, group);
		if (__atomic_load_n(&ring->is_over, __ATOMIC_RELAXED))
			return NULL;
		void **blocks = ring->blocks[group % RING_GROUPS];
		for (unsigned i = 0; i < GROUP; i++) {
			ring->sum += *(uint64_t *)blocks[i];
			ADAPTER_FREE(blocks[i], BLOCK_BYTES);
		}
		__atomic_store_n(&ring->read, group + 1, __ATOMIC_RELEASE);
	}
}

static void produce(void *context)
{
	struct ring *ring = (struct ring *)context;
	for (unsigned n = 0; n < GROUPS_MEASURED; n++) {
		uint64_t group = ring->written;
		if (group >= RING_GROUPS)
			wait_until_more(&ring->read, group - RING_GROUPS);
		void **blocks = ring->blocks[group % RING_GROUPS];
		for (unsigned i = 0; i < GROUP; i++) {
			blocks[i] = ADAPTER_ALLOC(BLOCK_BYTES);
			child_use(blocks[i]);
		}
		__atomic_store_n(&ring->written, group + 1, __ATOMIC_RELEASE);
	}
}

void work_handover(const struct run *run, struct outcome *outcome)
{
	pthread_t consumer;
	struct ring *ring = (struct ring *)child_map(sizeof *ring);
	outcome->base_rss_bytes = child_rss_bytes();
	child_pin(0);
	child_check(pthread_create(&consumer, NULL, consume, ring) == 0, "cannot create a thread");
	child_repeat(run, outcome, (uint64_t)GROUPS_MEASURED * GROUP, produce, ring);
	uint64_t end = ring->written;
	__atomic_store_n(&ring->is_over, true, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->written, end + 1, __ATOMIC_RELEASE);
	pthread_join(consumer, NULL);
}
