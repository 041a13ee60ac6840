/*
 * The first allocation may come before the library's constructor (from another library's), so both lead here. What the
 * allocator needs is set up first, without allocating; then what may allocate: the fork handlers. The agent starts from
 * the constructor only: then the C library is ready for threads.
 */
#include "init.h"

#include <pthread.h>
#include <stdatomic.h>

#include "agent.h"
#include "check.h"
#include "fork.h"
#include "heap.h"
#include "keep.h"
#include "options.h"
#include "os.h"
#include "page_map.h"
#include "qa.h"
#include "shared.h"
#include "size_class.h"
#include "space.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_done;
static __thread bool is_initialising __attribute__((tls_model("initial-exec")));

static void init_allocator(void)
{
	uint32_t page_size_bytes = options_page_size_bytes();
	check_init();
	page_map_init((unsigned)__builtin_ctz(page_size_bytes));
	size_class_init(page_size_bytes, check_is_on);
	space_init(page_size_bytes);
	/* What is not kept is not there: a use after its free is seen. */
	keep_init(page_size_bytes, check_is_on ? 0 : options_large_cache_bytes());
	shared_init();
	os_barrier_init();
	heap_init();
}

static bool init_run(void)
{
	if (is_initialising)
		return false;
	/* A lock, which fork takes too: no child may be born of a half-made allocator. */
	pthread_mutex_lock(&lock);
	bool is_ours = !atomic_load_explicit(&is_done, memory_order_relaxed); /* written under the lock */
	if (is_ours) {
		is_initialising = true;
		init_allocator();
		is_initialising = false;
		atomic_store_explicit(&is_done, true, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	if (is_ours)
		fork_init();
	return true;
}

bool init_ensure(void)
{
	/* acquire: pairs with the release above; what was set up is seen */
	return atomic_load_explicit(&is_done, memory_order_acquire) || init_run();
}

void init_lock(void)
{
	pthread_mutex_lock(&lock);
}

void init_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void library_loaded(void)
{
	fork_init();
	/* While there is one thread: with more, as after agent_boot, the kernel takes some 15 ms to register it. */
	os_barrier_init();
	agent_boot();
}

const char *qa_version(void)
{
	return QA_VERSION_TEXT;
}
