/*
 * agent_link.h - the agent's connection to qad: find it, say hello, answer, wait for it when it is gone.
 *
 * Everything, buffers too, is one mapping. The functions below are for the thread that starts and stops the agent; only
 * agent_link_run is the agent's own.
 */
#ifndef LIBQA_AGENT_LINK_H
#define LIBQA_AGENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "agent_wake.h"
#include "agent_watch.h"
#include "buffer.h"

struct agent_link {
	struct agent_wake wake; /* how to stop it */

	/* The rest is the agent's alone. Descriptors are of its own table. */
	int socket_fd; /* -1: not connected */
	struct agent_watch watch;

	struct qp_address addresses[QP_ADDRESSES];
	int address_count;
	bool is_chosen; /* the only address is QAD_SOCKET's */

	struct qp_buffer in, out;
	size_t wanted_bytes; /* no whole frame before in has these */
	void *scratch;
	size_t touched_bytes; /* of out and scratch, at most, since they were given back */

	bool is_welcome; /* qad answered hello */
	int64_t started_ms, connected_ms;
	uint32_t failures; /* attempts in a row that came to nothing */
	uint64_t random;
};

/*
 * Reads the environment (from the program's thread, where that is safe), or takes the addresses of before, if that is
 * not NULL. 0; -EAGAIN: no memory; -ENAMETOOLONG: QAD_SOCKET is too long for a socket.
 */
int agent_link_create(const struct agent_link *before, struct agent_link **created);
void agent_link_destroy(struct agent_link *link);

/* The thread: returns when asked to stop, or at once where it can not work. */
void agent_link_run(struct agent_link *link);

#endif
