/*
 * The first allocation may come before the library's constructor (from another library's), so both lead here. What the
 * allocator needs is set up first, without allocating; then what may allocate: the fork handlers. The agent starts from
 * the constructor only: then the C library is ready for threads.
 */
#include "init.h"

#include <sched.h>
#include <stdatomic.h>

#include "agent.h"
#include "fork.h"
#include "heap.h"
#include "options.h"
#include "os.h"
#include "page_map.h"
#include "qa.h"
#include "shared.h"
#include "size_class.h"
#include "space.h"

enum { NOT_YET, RUNNING, DONE };

static atomic_int state = NOT_YET;
static __thread bool is_initialising __attribute__((tls_model("initial-exec")));

static void init_allocator(void)
{
	uint32_t page_size_bytes = options_page_size_bytes();
	page_map_init((unsigned)__builtin_ctz(page_size_bytes));
	size_class_init(page_size_bytes);
	space_init(page_size_bytes);
	shared_init();
	os_barrier_init();
	heap_init();
}

static bool init_run(void)
{
	int expected = NOT_YET;
	if (atomic_compare_exchange_strong(&state, &expected, RUNNING)) {
		is_initialising = true;
		init_allocator();
		is_initialising = false;
		atomic_store_explicit(&state, DONE, memory_order_release);
		fork_init();
		return true;
	}
	if (is_initialising)
		return false;
	while (atomic_load_explicit(&state, memory_order_acquire) != DONE)
		sched_yield();
	return true;
}

bool init_ensure(void)
{
	/* acquire: pairs with the release above; what was set up is seen */
	return atomic_load_explicit(&state, memory_order_acquire) == DONE || init_run();
}

__attribute__((constructor)) static void library_loaded(void)
{
	fork_init();
	agent_boot();
}

const char *qa_version(void)
{
	return QA_VERSION_TEXT;
}
