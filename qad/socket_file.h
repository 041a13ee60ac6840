/*
 * socket_file.h - a listening Unix socket's place in the file system.
 */
#ifndef QAD_SOCKET_FILE_H
#define QAD_SOCKET_FILE_H

#include <stdbool.h>

enum socket_file {
	SOCKET_FILE_NONE,  /* nothing there */
	SOCKET_FILE_STALE, /* a socket that nobody listens at */
	SOCKET_FILE_LIVE,
	SOCKET_FILE_OTHER, /* not a socket */
};

/* What is at the path; a negative errno when that can not be found out. */
int socket_file_probe(const char *path);

/*
 * A listening, non-blocking socket bound to the path, replacing a socket that is there. The name appears when the
 * socket already listens, so that who sees it can connect. Anybody may connect: what they may do is decided by who they
 * are. Returns the socket or a negative errno.
 */
int socket_file_listen(const char *path);

#endif
