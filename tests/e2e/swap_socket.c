/*
 * A library to be preloaded: as soon as the program has bound a Unix socket, a link to the file of SWAP_SOCKET is in
 * its place. So does the owner of the directory who wins a race against whoever binds there.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

__attribute__((visibility("default"))) int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
	const char *path = ((const struct sockaddr_un *)(const void *)address)->sun_path;
	int error = (int)syscall(SYS_bind, fd, address, bytes);

	if (error == 0 && address->sa_family == AF_UNIX &&
	    (unlink(path) != 0 || symlink(getenv("SWAP_SOCKET"), path) != 0))
		abort();
	return error;
}
