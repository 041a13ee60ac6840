/*
 * server.h - the daemon as a whole: the loop and everything in it. There are no globals.
 */
#ifndef QAD_SERVER_H
#define QAD_SERVER_H

#include "access.h"
#include "address.h"
#include "limit.h"
#include "log.h"

struct server_options {
	struct qp_address address;
	struct access access;
	enum log_level level;
	struct limits limits;
	bool is_recording; /* a history of all targets, also of those that nobody watches */
};

/*
 * Listens and serves until SIGTERM or SIGINT. 0 after that; a negative errno when it could not begin, after a
 * line on stderr. SIGPIPE and SIGHUP are ignored from then on.
 */
int server_run(const struct server_options *options);

#endif
