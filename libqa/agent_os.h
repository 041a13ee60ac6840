/*
 * agent_os.h - the system calls of the agent's thread, unwrapped.
 *
 * The thread has a table of descriptors of its own (agent_wake.h), so its numbers also occur in the program, for other
 * files. What keeps books on descriptor numbers by wrapping the C library (ThreadSanitizer, preloaded libraries) must
 * therefore not see these calls. Each returns what the kernel does: a value, or a negative errno.
 */
#ifndef LIBQA_AGENT_OS_H
#define LIBQA_AGENT_OS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline long agent_os_result(long result)
{
	return result == -1 ? -errno : result;
}

/* From here on the calling thread has a table of descriptors of its own, an empty one. Linux 5.9. */
static inline int agent_os_leave_descriptors(void)
{
	return (int)agent_os_result(syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE));
}

static inline int agent_os_pipe(int ends[2])
{
	return (int)agent_os_result(syscall(SYS_pipe2, ends, O_CLOEXEC | O_NONBLOCK));
}

/* A copy at number or above. */
static inline int agent_os_copy_above(int fd, int number)
{
	return (int)agent_os_result(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, number));
}

static inline int agent_os_copy_to(int fd, int number)
{
	return (int)agent_os_result(syscall(SYS_dup3, fd, number, O_CLOEXEC));
}

static inline int agent_os_status(int fd, struct stat *status)
{
	return (int)agent_os_result(syscall(SYS_fstat, fd, status));
}

static inline int agent_os_permit(int fd, mode_t mode)
{
	return (int)agent_os_result(syscall(SYS_fchmod, fd, mode));
}

static inline void agent_os_close(int fd)
{
	syscall(SYS_close, fd);
}

static inline int agent_os_socket(void)
{
	return (int)agent_os_result(syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static inline int agent_os_connect(int fd, const void *address, socklen_t size_bytes)
{
	return (int)agent_os_result(syscall(SYS_connect, fd, address, size_bytes));
}

static inline int agent_os_peer(int fd, struct ucred *peer)
{
	socklen_t size_bytes = sizeof(*peer);

	return (int)agent_os_result(syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, peer, &size_bytes));
}

static inline long agent_os_send(int fd, const void *data, size_t size_bytes)
{
	return agent_os_result(syscall(SYS_sendto, fd, data, size_bytes, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0));
}

static inline long agent_os_receive(int fd, void *data, size_t size_bytes)
{
	return agent_os_result(syscall(SYS_recvfrom, fd, data, size_bytes, MSG_DONTWAIT, NULL, NULL));
}

static inline long agent_os_read(int fd, void *data, size_t size_bytes)
{
	return agent_os_result(syscall(SYS_read, fd, data, size_bytes));
}

static inline int agent_os_inotify(void)
{
	return (int)agent_os_result(syscall(SYS_inotify_init1, IN_CLOEXEC | IN_NONBLOCK));
}

static inline int agent_os_watch(int fd, const char *path, uint32_t mask)
{
	return (int)agent_os_result(syscall(SYS_inotify_add_watch, fd, path, mask));
}

/* timeout_ms < 0: for ever. Without a timeout the process may be stopped and continued: that wakes nothing. */
static inline int agent_os_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ms)
{
	struct timespec timeout = {.tv_sec = (time_t)(timeout_ms / 1000),
				   .tv_nsec = (long)(timeout_ms % 1000) * 1000000};

	return (int)agent_os_result(syscall(SYS_ppoll, fds, count, timeout_ms < 0 ? NULL : &timeout, NULL, _NSIG / 8));
}

#endif
