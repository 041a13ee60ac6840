/*
 * Many short threads, two at a time: each allocates 64 blocks of mixed sizes up to 512 bytes, writes and frees them and
 * ends. What counts is what a thread's first allocation and its end cost; most of the rest is the kernel's.
 */
#include "adapter.h"
#include "work.h"

#include <pthread.h>

#define BLOCKS 64u
#define PAIRS_OF_THREADS 8

static void *short_thread(void *context)
{
	void *blocks[BLOCKS];
	(void)context;
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = adapter_alloc(child_hide(16 + i % 32 * 16));
		child_check(blocks[i] != NULL, "out of memory");
		child_use(blocks[i]);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		adapter_free(blocks[i], child_hide(16 + i % 32 * 16));
	return NULL;
}

static void threads(void *context)
{
	(void)context;
	for (int i = 0; i < PAIRS_OF_THREADS; i++) {
		pthread_t one, two;
		child_check(pthread_create(&one, NULL, short_thread, NULL) == 0, "cannot create a thread");
		child_check(pthread_create(&two, NULL, short_thread, NULL) == 0, "cannot create a thread");
		pthread_join(one, NULL);
		pthread_join(two, NULL);
	}
}

void work_threads(const struct run *run, struct outcome *outcome)
{
	child_repeat(run, outcome, 2 * PAIRS_OF_THREADS, threads, NULL);
}
