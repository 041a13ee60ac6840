/*
 * The slots of a class share one cache line. All threads start at the first slot, so that the batch left last is found
 * first, in cache.
 */
#include "transfer.h"

#include <stdatomic.h>
#include <stddef.h>

#include "qa.h"

enum { SLOTS = 8, ADDRESS_BITS = 48 };

static struct {
	_Atomic uint64_t slots[SLOTS];
} __attribute__((aligned(64))) transfers[QA_CACHES_];

bool transfer_put(unsigned size_class, void *chain, uint32_t count)
{
	uint64_t batch = (uint64_t)count << ADDRESS_BITS | (uintptr_t)chain;
	for (int i = 0; i < SLOTS; i++) {
		_Atomic uint64_t *slot = &transfers[size_class].slots[i];
		uint64_t vacant = 0;
		if (atomic_load_explicit(slot, memory_order_relaxed) != 0)
			continue;
		/* release: the chain's links are seen by who takes it; pairs with the acquire in transfer_take */
		if (atomic_compare_exchange_strong_explicit(slot, &vacant, batch, memory_order_release,
							    memory_order_relaxed))
			return true;
	}
	return false;
}

void *transfer_take(unsigned size_class, uint32_t *count)
{
	for (int i = 0; i < SLOTS; i++) {
		_Atomic uint64_t *slot = &transfers[size_class].slots[i];
		if (atomic_load_explicit(slot, memory_order_relaxed) == 0)
			continue;
		uint64_t batch = atomic_exchange_explicit(slot, 0, memory_order_acquire);
		if (batch != 0) {
			*count = (uint32_t)(batch >> ADDRESS_BITS);
			return (void *)(uintptr_t)(batch & (((uint64_t)1 << ADDRESS_BITS) - 1));
		}
	}
	return NULL;
}

void transfer_forget(void)
{
	for (unsigned i = 0; i < QA_CACHES_; i++)
		for (int slot = 0; slot < SLOTS; slot++)
			atomic_store_explicit(&transfers[i].slots[slot], 0, memory_order_relaxed);
}

uint64_t transfer_blocks(unsigned size_class)
{
	uint64_t blocks = 0;
	for (int i = 0; i < SLOTS; i++)
		blocks += atomic_load_explicit(&transfers[size_class].slots[i], memory_order_relaxed) >> ADDRESS_BITS;
	return blocks;
}
