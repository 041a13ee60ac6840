/*
 * Preloaded into qad: the kernel does not know SO_PEERPIDFD, as before Linux 6.5.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PEERPIDFD 77

__attribute__((visibility("default"))) int getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	if (level == SOL_SOCKET && name == PEERPIDFD) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return (int)syscall(SYS_getsockopt, fd, level, name, value, size);
}
