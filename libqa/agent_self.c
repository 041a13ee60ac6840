/*
 * The thread's number, not a thread-local mark: who asks may be any thread of the program, and would get that much more
 * thread-local storage.
 */
#include "agent_self.h"

#include <stdatomic.h>
#include <unistd.h>

/* The agent's thread, or 0. Written by that thread; others only compare it with their own, so no order is needed. */
static atomic_int thread_tid;

static void set(int tid)
{
	atomic_store_explicit(&thread_tid, tid, memory_order_relaxed);
}

void agent_self_begin(void)
{
	set(gettid());
}

void agent_self_end(void)
{
	set(0);
}

void agent_self_forget(void)
{
	set(0);
}

bool agent_self_is_current(void)
{
	return atomic_load_explicit(&thread_tid, memory_order_relaxed) == gettid();
}
