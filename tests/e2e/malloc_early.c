/*
 * A library that is initialised before every other one (it is linked with -z initfirst), libc included, and allocates
 * there: environ is not set yet. A thread-local that needs its constructor's memory, and calls that may allocate
 * themselves, come along.
 */
#include "malloc_early.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *early_block;
int early_had_environ = -1;
static __thread char thread_bytes[3000];

__attribute__((constructor)) static void allocate_early(void)
{
	pthread_key_t key;
	early_had_environ = environ != NULL;
	early_block = malloc(100);
	if (!early_block)
		return;
	memset(early_block, 7, 100);
	early_block = realloc(early_block, 40000);
	free(calloc(10, 10));
	void *aligned = NULL;
	if (posix_memalign(&aligned, 4096, 100) == 0)
		free(aligned);
	if (pthread_key_create(&key, free) == 0)
		pthread_setspecific(key, malloc(50));
	memset(thread_bytes, 1, sizeof thread_bytes);
}
