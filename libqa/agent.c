/*
 * One thread, made with all signals blocked and a small stack; everything that it works with lies in one mapping
 * (agent_link.h), so that nothing of it comes from the program's allocator. One lock covers start and stop, and is held
 * over fork.
 *
 * The forked child makes a thread inside the fork handler, where another allocator's locks may still be held. That is
 * safe because pthread_create then needs no memory: in the child glibc keeps the stacks of the parent's threads for
 * reuse, and takes that of the parent's agent, which has the very size that is asked for, with its thread-local
 * storage.
 */
#include "agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent_link.h"
#include "agent_self.h"
#include "options.h"
#include "qa.h"

/*
 * A program may leave main by pthread_exit, or fork in another thread than its first; it then ends when its last thread
 * ends, which glibc finds out by counting threads. With the agent counted that would never happen, and no signal but
 * SIGKILL would end what is left. So the agent is taken out of the count while it lives. No other way does what the
 * program expects: exit called in its own last thread. Where glibc has no such counter, such a program stays.
 */
static atomic_uint *thread_count; /* of glibc, or NULL; looked up before there are threads, as dlsym takes locks */

static void count_agent(int change)
{
	if (thread_count)
		atomic_fetch_add(thread_count, (unsigned)change);
}

/* For the work itself: proto, statistics and trim need a few KiB. Only what is touched becomes resident. */
#define STACK_BYTES (128u << 10)

/* Present in programs under ThreadSanitizer. It ends a forked child of a program with threads that makes a thread. */
extern void __tsan_acquire(void *address) __attribute__((weak, visibility("default")));

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
/* All under life. */
static struct agent_link *running; /* NULL: no agent */
static pthread_t thread;
static pid_t process;      /* whose agent it is: a child made without fork handlers has none */
static size_t stack_bytes; /* once known the same for ever, see above */

static int add_tls_bytes(struct dl_phdr_info *module, size_t size, void *data)
{
	size_t *bytes = data;

	(void)size;
	for (int i = 0; i < module->dlpi_phnum; i++)
		if (module->dlpi_phdr[i].p_type == PT_TLS)
			*bytes += module->dlpi_phdr[i].p_memsz + module->dlpi_phdr[i].p_align;
	return 0;
}

/* glibc takes the program's thread-local storage, which may be large, out of the stack. */
static size_t stack_bytes_needed(void)
{
	size_t bytes = STACK_BYTES;
	long least = sysconf(_SC_THREAD_STACK_MIN);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	dl_iterate_phdr(add_tls_bytes, &bytes);
	bytes += least > 0 ? (size_t)least : PTHREAD_STACK_MIN;
	return (bytes + page - 1) / page * page;
}

static void *run(void *data)
{
	agent_self_begin();
	agent_link_run(data);
	count_agent(1); /* as glibc counts it out now */
	agent_self_end();
	return NULL;
}

static int create_thread(struct agent_link *link)
{
	pthread_attr_t attributes;
	sigset_t all, saved;

	if (stack_bytes == 0)
		stack_bytes = stack_bytes_needed();
	if (pthread_attr_init(&attributes) != 0)
		return -EAGAIN;
	int error = pthread_attr_setstacksize(&attributes, stack_bytes);
	if (error == 0) {
		/* pthread_sigmask leaves out the two signals that glibc itself needs in every thread. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &saved);
		error = pthread_create(&thread, &attributes, run, link);
		if (error == 0)
			count_agent(-1);
		pthread_sigmask(SIG_SETMASK, &saved, NULL);
	}
	pthread_attr_destroy(&attributes);
	return error == 0 ? 0 : -EAGAIN;
}

/* With life held, and none running. before: the agent of the parent, whose addresses the child takes over, or NULL. */
static int start(const struct agent_link *before)
{
	struct agent_link *link;
	int error = agent_link_create(before, &link);

	if (error != 0)
		return error;
	if (create_thread(link) != 0) {
		agent_link_destroy(link);
		return -EAGAIN;
	}
	running = link;
	process = getpid();
	return 0;
}

/* With life held: a child made past the fork handlers (_Fork, clone) has a copy of everything but the thread. */
static void forget_in_unknown_child(void)
{
	if (running != NULL && process != getpid()) {
		agent_link_destroy(running);
		running = NULL;
	}
}

int qa_agent_start(void)
{
	int error = 0;

	if (getauxval(AT_SECURE) != 0)
		return -EPERM;
	pthread_mutex_lock(&life);
	forget_in_unknown_child();
	if (running == NULL)
		error = start(NULL);
	pthread_mutex_unlock(&life);
	return error;
}

/* With life held, and one running. */
static void stop(void)
{
	if (agent_wake_stop(&running->wake)) {
		pthread_join(thread, NULL);
		agent_wake_await_gone(&running->wake);
		agent_link_destroy(running);
	} else {
		/* It can not be woken; it ends at what it is told next, and what it uses stays mapped. */
		pthread_detach(thread);
	}
	running = NULL;
}

void qa_agent_stop(void)
{
	int saved = errno, cancel_state;

	/* A thread that were cancelled on the way would keep the lock for ever, and every fork waits for it. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&life);
	forget_in_unknown_child();
	if (running != NULL)
		stop();
	pthread_mutex_unlock(&life);
	pthread_setcancelstate(cancel_state, NULL);
	errno = saved;
}

void agent_boot(void)
{
	thread_count = (atomic_uint *)dlsym(RTLD_DEFAULT, "__nptl_nthreads");
	if (options_agent())
		qa_agent_start(); /* a program that can not have one does without */
}

void agent_fork_prepare(void)
{
	pthread_mutex_lock(&life);
}

void agent_fork_parent(void)
{
	pthread_mutex_unlock(&life);
}

void agent_fork_child(void)
{
	struct agent_link *of_parent = running;

	running = NULL;
	agent_self_forget();
	if (of_parent != NULL) {
		if (__tsan_acquire == NULL)
			start(of_parent);
		agent_link_destroy(of_parent);
	}
	pthread_mutex_unlock(&life);
}
