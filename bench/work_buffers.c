/*
 * Buffers that come and go: one of eight slots, chosen at random, is freed and filled with 40 KiB to 1 MiB, of which
 * every OS page is written, as a program does that reads files or packs records.
 */
#include "adapter.h"
#include "work.h"

#define SLOTS 8u
#define SIZE_MIN ((size_t)40 << 10)
#define SIZE_MAX_ ((size_t)1 << 20)
#define STEPS 64
#define OS_PAGE_BYTES 4096

struct buffers {
	char *slots[SLOTS];
	size_t sizes[SLOTS];
	uint64_t random;
};

static void fill(struct buffers *buffers, unsigned slot)
{
	size_t size = SIZE_MIN + (size_t)(child_random(&buffers->random) >> 32) % (SIZE_MAX_ - SIZE_MIN + 1);
	char *bytes = (char *)adapter_alloc(size);
	child_check(bytes != NULL, "out of memory");
	for (size_t i = 0; i < size; i += OS_PAGE_BYTES)
		((volatile char *)bytes)[i] = 1;
	buffers->slots[slot] = bytes;
	buffers->sizes[slot] = size;
}

static void replace(void *context)
{
	struct buffers *buffers = (struct buffers *)context;
	for (int i = 0; i < STEPS; i++) {
		unsigned slot = (unsigned)(child_random(&buffers->random) >> 32) % SLOTS;
		adapter_free(buffers->slots[slot], buffers->sizes[slot]);
		fill(buffers, slot);
	}
}

void work_buffers(const struct run *run, struct outcome *outcome)
{
	struct buffers *buffers = (struct buffers *)child_map(sizeof *buffers);
	buffers->random = 0x9e3779b97f4a7c15u;
	outcome->base_rss_bytes = child_rss_bytes();
	for (unsigned i = 0; i < SLOTS; i++)
		fill(buffers, i);
	child_repeat(run, outcome, STEPS, replace, buffers);
}
