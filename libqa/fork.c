/*
 * The kernel copies a process while its other threads run, page by page, so whatever they change meanwhile may arrive
 * half changed. Before the fork, therefore, all heaps are stopped by the biased lock and all locks are taken, in the
 * one order that libqa knows:
 *
 *     agent -> init -> settings -> pools -> trim -> heaps -> quarantine -> classes -> space -> records -> kept mappings
 *
 * and other threads wait at the shared pages until it is over. Where heaps can not be stopped (no membarrier), the
 * child forgets the content of other threads' caches and of the batches between threads: lost to it, but never wrong.
 */
#include "fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "agent.h"
#include "check.h"
#include "heap.h"
#include "init.h"
#include "keep.h"
#include "meta.h"
#include "options.h"
#include "os.h"
#include "pool.h"
#include "shared.h"
#include "space.h"
#include "transfer.h"
#include "trim_lock.h"

static void resume_heaps(void)
{
	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		heap_resume(heap);
}

static void before_fork(void)
{
	int saved = errno;
	agent_fork_prepare();
	init_lock();
	options_lock();
	pool_lock();
	trim_lock();
	heap_lock();
	heap_stop_others();
	check_lock();
	shared_close_all();
	space_lock();
	meta_lock();
	keep_lock();
	errno = saved;
}

static void unlock_all(bool is_child)
{
	keep_unlock();
	meta_unlock();
	space_unlock();
	shared_open_all(is_child);
	check_unlock();
	resume_heaps();
	heap_unlock();
	if (is_child)
		trim_unlock_in_child();
	else
		trim_unlock();
	pool_unlock();
	options_unlock();
	init_unlock();
}

static void after_fork_in_parent(void)
{
	int saved = errno;
	unlock_all(false);
	agent_fork_parent();
	errno = saved;
}

static void after_fork_in_child(void)
{
	int saved = errno;
	if (!heap_orphan_others())
		transfer_forget();
	unlock_all(true);
	os_barrier_init();
	agent_fork_child();
	errno = saved;
}

void fork_init(void)
{
	static atomic_bool is_registered;
	if (!atomic_exchange(&is_registered, true))
		pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
