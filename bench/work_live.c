/*
 * A long-lived process: 100,000 slots hold blocks of 16 to 1,024 bytes, each size as likely; a slot chosen at random is
 * freed and filled with a block of another size. First and last byte of each block are written.
 */
#include "adapter.h"
#include "work.h"

#define SLOTS 100000u
#define SIZE_MIN 16u
#define SIZE_MAX_ 1024u
#define STEPS 10000

struct slot {
	char *block;
	size_t size;
};

struct live {
	uint64_t random;
	struct slot slots[SLOTS];
};

static void fill(struct live *live, struct slot *slot)
{
	slot->size = SIZE_MIN + (size_t)(child_random(&live->random) >> 32) % (SIZE_MAX_ - SIZE_MIN + 1);
	slot->block = (char *)adapter_alloc(slot->size);
	child_check(slot->block != NULL, "out of memory");
	slot->block[slot->size - 1] = 1;
	child_use(slot->block);
}

static void replace(void *context)
{
	struct live *live = (struct live *)context;
	for (int i = 0; i < STEPS; i++) {
		struct slot *slot = &live->slots[(child_random(&live->random) >> 32) % SLOTS];
		adapter_free(slot->block, slot->size);
		fill(live, slot);
	}
}

void work_live(const struct run *run, struct outcome *outcome)
{
	struct live *live = (struct live *)child_map(sizeof *live);
	live->random = 0x9e3779b97f4a7c15u;
	outcome->base_rss_bytes = child_rss_bytes();
	for (unsigned i = 0; i < SLOTS; i++)
		fill(live, &live->slots[i]);
	child_repeat(run, outcome, STEPS, replace, live);
}
