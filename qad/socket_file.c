/*
 * The socket is bound to a temporary name in the same directory, listens, and is then renamed into place: one step, in
 * which a stale socket is replaced too. Where the temporary name would be too long for an address, the final one is
 * bound directly, and a client may see the name a moment before the socket listens.
 *
 * The mode comes from the umask and not from chmod(2): with --user qad binds as root in a directory of that user's, who
 * could put a link to another file in place of the socket just before chmod follows it.
 */
#include "socket_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return address;
}

int socket_file_probe(const char *path)
{
	struct sockaddr_un address = address_of(path);
	struct stat status;
	int fd, error;

	if (lstat(path, &status) != 0)
		return errno == ENOENT ? SOCKET_FILE_NONE : -errno;
	if (!S_ISSOCK(status.st_mode))
		return SOCKET_FILE_OTHER;
	fd = open_socket();
	if (fd < 0)
		return fd;
	error = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
	close(fd);
	switch (error) {
	case 0:
	case EAGAIN:     /* its queue is full */
	case EPROTOTYPE: /* another kind of socket, but alive */
		return SOCKET_FILE_LIVE;
	case ECONNREFUSED:
		return SOCKET_FILE_STALE;
	case ENOENT:
		return SOCKET_FILE_NONE;
	default:
		return -error;
	}
}

/* The directory's part of path, then ".<pid>". False when it does not fit. */
static bool temporary_name(const char *path, struct sockaddr_un *address)
{
	const char *slash = strrchr(path, '/');
	int directory_bytes = slash != NULL ? (int)(slash - path) + 1 : 0;

	address->sun_family = AF_UNIX;
	int bytes =
		snprintf(address->sun_path, sizeof(address->sun_path), "%.*s.%d", directory_bytes, path, (int)getpid());
	return bytes > 0 && (size_t)bytes < sizeof(address->sun_path);
}

/* Everybody may connect: mode 0666. */
static int bind_for_all(int fd, const struct sockaddr_un *address)
{
	mode_t mask = umask(0111);
	int error = bind(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ? -errno : 0;

	umask(mask);
	return error;
}

int socket_file_listen(const char *path)
{
	struct sockaddr_un address;
	bool is_temporary = temporary_name(path, &address);
	int fd = open_socket();
	int error;

	if (fd < 0)
		return fd;
	if (!is_temporary)
		address = address_of(path);
	unlink(address.sun_path); /* left behind by a qad of the same pid, or the stale socket itself */
	error = bind_for_all(fd, &address);
	if (error != 0) {
		close(fd);
		return error;
	}
	if (listen(fd, BACKLOG) != 0 || (is_temporary && rename(address.sun_path, path) != 0)) {
		error = -errno;
		unlink(address.sun_path);
		close(fd);
		return error;
	}
	return fd;
}
