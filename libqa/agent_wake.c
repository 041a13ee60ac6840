/*
 * A pipe in the agent's table, since a pipe can be opened a second time by its name in /proc, which sockets and event
 * descriptors can not. Without /proc a descriptor for the thread gives copies of both ends. Either way the program
 * holds the reading end while it writes: the agent may end by itself at any moment, and to write to a pipe without a
 * reader is SIGPIPE.
 */
#include "agent_wake.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "agent_os.h"

void agent_wake_init(struct agent_wake *wake)
{
	atomic_init(&wake->must_stop, false);
	atomic_init(&wake->tid, -1);
	wake->stop_fd = wake->wake_fd = -1;
}

/*
 * What writes to standard error in this thread must not write to qad: the pipe's reading end, which is number 0 of the
 * empty table, also sits on 1 and 2, where writing to it is an error.
 */
static bool occupy_standard_numbers(int ends[2])
{
	int writing = agent_os_copy_above(ends[1], 3);

	if (ends[0] != 0 || writing < 0 || agent_os_copy_to(0, 1) < 0 || agent_os_copy_to(0, 2) < 0)
		return false;
	ends[1] = writing;
	return true;
}

bool agent_wake_enter(struct agent_wake *wake)
{
	int ends[2];
	struct stat status;

	if (agent_os_leave_descriptors() != 0 || agent_os_pipe(ends) != 0 || !occupy_standard_numbers(ends) ||
	    agent_os_status(ends[0], &status) != 0)
		return false;
	/* The program may be another user by the time it opens the pipe; /proc shows it to nobody else. */
	agent_os_permit(ends[0], 0666);
	wake->stop_fd = ends[0];
	wake->wake_fd = ends[1];
	wake->inode = status.st_ino;
	/* Sequentially consistent: pairs with agent_wake_stop, see there. */
	atomic_store(&wake->tid, gettid());
	return true;
}

bool agent_wake_must_stop(const struct agent_wake *wake)
{
	/* Sequentially consistent: pairs with agent_wake_stop, see there. */
	return atomic_load(&wake->must_stop);
}

/* Whether it is our pipe: a thread that something killed may have left its number to another one. */
static bool is_pipe(const struct agent_wake *wake, int fd)
{
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == wake->inode;
}

/* By name, for reading and writing. */
static bool write_by_proc(const struct agent_wake *wake, int tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/fd/%d", tid, wake->wake_fd);
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool written = is_pipe(wake, fd) && write(fd, "", 1) == 1;
	close(fd);
	return written;
}

static int copy_of(int thread_fd, int fd)
{
	return (int)syscall(SYS_pidfd_getfd, thread_fd, fd, 0u);
}

/* By copies of both ends. */
static bool write_by_thread(const struct agent_wake *wake, int tid)
{
	int thread_fd = (int)syscall(SYS_pidfd_open, tid, O_EXCL); /* PIDFD_THREAD, Linux 6.9 */
	if (thread_fd < 0)
		return false;

	int reading = copy_of(thread_fd, wake->stop_fd);
	int writing = copy_of(thread_fd, wake->wake_fd);
	bool written = is_pipe(wake, reading) && is_pipe(wake, writing) && write(writing, "", 1) == 1;
	if (reading >= 0)
		close(reading);
	if (writing >= 0)
		close(writing);
	close(thread_fd);
	return written;
}

static bool is_alive(int tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

bool agent_wake_stop(struct agent_wake *wake)
{
	/*
	 * Sequentially consistent, as is the agent's store of tid before its first look at must_stop: so either we see
	 * whom to wake, or the agent sees that it must stop before it ever sleeps.
	 */
	atomic_store(&wake->must_stop, true);
	int tid = atomic_load(&wake->tid);

	/* It may end by itself meanwhile, as it looks at must_stop between any two things that it does. */
	return tid < 0 || write_by_proc(wake, tid) || write_by_thread(wake, tid) || !is_alive(tid);
}

void agent_wake_await_gone(const struct agent_wake *wake)
{
	int tid = atomic_load(&wake->tid);
	struct timespec pause = {.tv_nsec = 50000};

	/* Some microseconds, in which setns and unshare still refuse. Bounded, as the number may be used again. */
	for (int i = 0; tid > 0 && i < 2000 && is_alive(tid); i++)
		nanosleep(&pause, NULL);
}
