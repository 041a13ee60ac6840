/*
 * Each peer has a call of its own; it is looked up by name, so that one program serves all of them. jemalloc: flush
 * this thread's cache, then purge all arenas (4096 is MALLCTL_ARENAS_ALL).
 */
#include "peer_trim.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>

typedef int mallctl_function(const char *name, void *old_value, size_t *old_size, void *new_value, size_t new_size);

void peer_trim(void)
{
	mallctl_function *mallctl = (mallctl_function *)dlsym(RTLD_DEFAULT, "mallctl");
	if (mallctl) {
		mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
		mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
		return;
	}
	void (*release_free_memory)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "MallocExtension_ReleaseFreeMemory");
	if (release_free_memory) {
		void (*thread_idle)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "MallocExtension_MarkThreadIdle");
		if (thread_idle)
			thread_idle();
		release_free_memory();
		return;
	}
	void (*collect)(bool force) = (void (*)(bool))dlsym(RTLD_DEFAULT, "mi_collect");
	if (collect) {
		collect(true);
		return;
	}
	malloc_trim(0);
}
