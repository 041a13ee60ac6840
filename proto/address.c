/*
 * The rules of docs/PROTOCOL.md, "Where". A path that does not fit a socket address is left out rather than cut, except
 * for QAD_SOCKET: who set that wants just that place and is told. Directories are looked at only below /tmp, the one
 * place where another user could have made them first.
 */
#include "address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SYSTEM_PATH "/run/qad/qad.sock"

_Static_assert(sizeof(struct qp_address) <= sizeof(((struct sockaddr_un *)0)->sun_path),
	       "an address fits the kernel's");

int qp_address_set(struct qp_address *address, const char *path)
{
	size_t bytes = strlen(path);

	if (bytes == 0)
		return -EINVAL;
	if (bytes > QP_ADDRESS_BYTES)
		return -ENAMETOOLONG;
	memcpy(address->path, path, bytes + 1);
	return 0;
}

/* The variable, or NULL when it is unset or empty, or the program is set-user-ID. */
static const char *variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* The one or two addresses of the effective user, best first. Returns how many. */
static int user_addresses(struct qp_address *addresses)
{
	const char *runtime = variable("XDG_RUNTIME_DIR");
	int count = 0;

	/* The XDG specification wants an absolute path; another one is ignored. */
	if (runtime != NULL && runtime[0] == '/') {
		int bytes = snprintf(addresses[0].path, sizeof(addresses[0].path), "%s/qad/qad.sock", runtime);
		if (bytes > 0 && bytes <= (int)QP_ADDRESS_BYTES)
			count = 1;
	}
	snprintf(addresses[count].path, sizeof(addresses[count].path), "/tmp/qad-%u/qad.sock", (unsigned)geteuid());
	return count + 1;
}

int qp_address_candidates(struct qp_address addresses[QP_ADDRESSES])
{
	const char *chosen = variable("QAD_SOCKET");

	if (chosen != NULL) {
		int error = qp_address_set(&addresses[0], chosen);
		return error != 0 ? error : 1;
	}
	qp_address_set(&addresses[0], SYSTEM_PATH);
	return 1 + user_addresses(&addresses[1]);
}

int qp_address_of_server(struct qp_address *address)
{
	const char *chosen = variable("QAD_SOCKET");
	struct qp_address of_user[2];

	if (chosen != NULL)
		return qp_address_set(address, chosen);
	if (geteuid() == 0)
		return qp_address_set(address, SYSTEM_PATH);
	user_addresses(of_user);
	*address = of_user[0];
	return 0;
}

void qp_address_directory(const struct qp_address *address, char directory[QP_ADDRESS_BYTES + 1])
{
	const char *slash = strrchr(address->path, '/');
	size_t bytes = slash != NULL ? (size_t)(slash - address->path) : 0;

	if (slash == NULL) {
		strcpy(directory, ".");
		return;
	}
	while (bytes > 1 && address->path[bytes - 1] == '/')
		bytes--;
	if (bytes == 0)
		bytes = 1; /* the root */
	memcpy(directory, address->path, bytes);
	directory[bytes] = '\0';
}

static bool is_below(const char *path, const char *directory)
{
	size_t bytes = strlen(directory);

	return strncmp(path, directory, bytes) == 0 && path[bytes] == '/';
}

int qp_address_check_directory(const struct qp_address *address)
{
	char directory[QP_ADDRESS_BYTES + 1];
	struct stat status;

	qp_address_directory(address, directory);
	if (!is_below(directory, "/tmp"))
		return 0;
	if (lstat(directory, &status) != 0)
		return -errno;
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
		return -EPERM;
	return 0;
}

int qp_address_make_directory(const struct qp_address *address)
{
	char directory[QP_ADDRESS_BYTES + 1];

	qp_address_directory(address, directory);
	if (mkdir(directory, is_below(directory, "/run") ? 0755 : 0700) != 0 && errno != EEXIST)
		return -errno;
	return qp_address_check_directory(address);
}
