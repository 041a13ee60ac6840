/*
 * address.h - where qad listens, and whether the directory of its socket can be trusted.
 */
#ifndef QP_ADDRESS_H
#define QP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Longest socket path that fits struct sockaddr_un, without the final NUL. */
#define QP_ADDRESS_BYTES 107u

struct qp_address {
	char path[QP_ADDRESS_BYTES + 1];
};

enum { QP_ADDRESSES = 3 };

/*
 * The addresses at which a target or client looks for qad, best first: only QAD_SOCKET if that is set
 * (to a path that fits), else /run/qad/qad.sock, $XDG_RUNTIME_DIR/qad/qad.sock (if set and it fits),
 * /tmp/qad-<uid>/qad.sock, the last two for the effective uid. Reads the environment with
 * secure_getenv. Returns how many, at least 1; -ENAMETOOLONG if QAD_SOCKET does not fit.
 */
int qp_address_candidates(struct qp_address addresses[QP_ADDRESSES]);

/*
 * The address at which qad listens when it is not told one: QAD_SOCKET, /run/qad/qad.sock for root,
 * else the first candidate in a directory of the user. Returns 0 or -ENAMETOOLONG.
 */
int qp_address_of_server(struct qp_address *address);

/* Copies the path of the socket's directory: "." for a path without a slash. */
void qp_address_directory(const struct qp_address *address, char directory[QP_ADDRESS_BYTES + 1]);

/* Copies a path; 0, or -ENAMETOOLONG, or -EINVAL when it is empty. */
int qp_address_set(struct qp_address *address, const char *path);

/*
 * Whether the socket's directory can be trusted, which only has to be asked below /tmp, where anybody can make one: it
 * must be of the effective user, not a link, closed to others. Directories elsewhere pass. 0, -EPERM, or the errno of
 * lstat.
 */
int qp_address_check_directory(const struct qp_address *address);

/*
 * Makes the socket's directory when it is missing (0755 under /run, else 0700; the parents must exist), and checks it
 * as above. Returns 0 or a negative errno; -EPERM when the check fails.
 */
int qp_address_make_directory(const struct qp_address *address);

#endif
