/*
 * Frees when a program hardly lives any more: in the last round of a thread's destructors, in atexit, and in a
 * destructor that runs after everything else of the program. What is printed then is written without stdio.
 */
#include "target.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <qa.h>

enum { GROUP_THREAD = GROUPS - 3, GROUP_ATEXIT, GROUP_DESTRUCTOR };

struct late_thread {
	pthread_key_t key;
	int rounds_left;
	size_t count, size;
	size_t bad;
	int status;
};

/* Asks to be run again until the last round that POSIX promises: libqa's own destructor has run by then. */
static void thread_finish(void *argument)
{
	struct late_thread *late = argument;
	if (--late->rounds_left > 0) {
		pthread_setspecific(late->key, late);
		return;
	}
	late->bad = blocks_remove(GROUP_THREAD, 0);
	/* And takes again, after its cache is gone. */
	void *block = qa_alloc(24, 8);
	if (!block)
		late->status = -ENOMEM;
	qa_dealloc(block, 24, 8);
}

static void *thread_run(void *argument)
{
	struct late_thread *late = argument;
	late->status = blocks_add(GROUP_THREAD, late->count, late->size, 8);
	pthread_setspecific(late->key, late);
	return NULL;
}

int late_run_thread(size_t count, size_t size)
{
	struct late_thread late = {.rounds_left = PTHREAD_DESTRUCTOR_ITERATIONS, .count = count, .size = size};
	pthread_t thread;
	int error = pthread_key_create(&late.key, thread_finish);
	if (error)
		return -error;
	error = pthread_create(&thread, NULL, thread_run, &late);
	if (!error)
		error = pthread_join(thread, NULL);
	pthread_key_delete(late.key);
	if (error)
		return -error;
	return late.rounds_left == 0 && late.bad == 0 ? late.status : -EFAULT;
}

static bool exit_is_armed;

static void exit_free(void)
{
	if (blocks_remove(GROUP_ATEXIT, 0) != 0)
		abort();
}

/* Priority 101: the last destructor of the program itself. */
__attribute__((destructor(101))) static void exit_finish(void)
{
	if (!exit_is_armed)
		return;
	if (blocks_remove(GROUP_DESTRUCTOR, 0) != 0)
		abort();
	struct qa_stats stats;
	qa_stats(&stats, NULL, 0);
	char text[128];
	int length = snprintf(text, sizeof text, "ok used=%" PRIu64 " allocs=%" PRIu64 " frees=%" PRIu64 "\n",
			      stats.used_bytes, stats.allocs, stats.frees);
	if (write(STDOUT_FILENO, text, (size_t)length) != length)
		abort();
}

int late_arm_exit(size_t count, size_t size)
{
	int status = blocks_add(GROUP_ATEXIT, count, size, 8);
	if (status == 0)
		status = blocks_add(GROUP_DESTRUCTOR, count, size, 0);
	if (status == 0 && atexit(exit_free) != 0)
		status = -ENOMEM;
	exit_is_armed = status == 0;
	return status;
}
