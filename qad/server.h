/*
 * server.h - the daemon as a whole: the loop and everything in it. There are no globals.
 */
#ifndef QAD_SERVER_H
#define QAD_SERVER_H

#include "access.h"
#include "address.h"
#include "http_options.h"
#include "limit.h"
#include "log.h"
#include "manager.h"
#include "user.h"

struct server_options {
	struct qp_address address;
	struct access access;
	enum log_level level;
	struct limits limits;
	struct manager manager;
	struct user user; /* to become when the socket is there */
	int socket;       /* that listens already, at the address; -1: none */
	struct http_options http;
	bool is_recording; /* a history of all targets, also of those that nobody watches */
};

/*
 * Listens and serves until SIGTERM or SIGINT. 0 after that; a negative errno when it could not begin, after a
 * line on stderr; -EUSERS: it may not become that user; -ENOTSUP: HTTP was asked for and is not built
 * in; -ENOKEY: its token file is no good. SIGPIPE and
 * SIGHUP are ignored from then on.
 */
int server_run(const struct server_options *options);

#endif
