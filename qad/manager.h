/*
 * manager.h - what qad and a service manager tell each other, as systemd defined it: a socket that is handed over
 * (LISTEN_FDS), that qad is ready or ends (NOTIFY_SOCKET), and that it still works (WATCHDOG_USEC).
 *
 * Without these variables nothing happens.
 */
#ifndef QAD_MANAGER_H
#define QAD_MANAGER_H

#include <stdint.h>

#include <uv.h>

#include "address.h"

struct manager {
	char socket[108]; /* of NOTIFY_SOCKET; a leading NUL: in the abstract namespace; "": nobody to tell */
	size_t socket_bytes;
	uint64_t watchdog_ms; /* 0: nobody watches */
	uv_timer_t timer;
};

/* Reads the variables and takes them out of the environment. */
void manager_init(struct manager *manager);

/*
 * The listening socket that was handed over, non-blocking and close-on-exec, and its path; -1 when there is none.
 * Another negative errno: -EINVAL it is not one listening Unix stream socket, or there are several.
 */
int manager_take_socket(struct qp_address *address);

/* qad is ready; the watchdog is fed from now on, by the loop. */
void manager_ready(struct manager *manager, uv_loop_t *loop, const char *status);
/* qad ends; closes the timer. */
void manager_ends(struct manager *manager);

#endif
