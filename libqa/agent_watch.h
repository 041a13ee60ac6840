/*
 * agent_watch.h - sleeping until qad may have come: inotify on the directories where its socket would appear.
 */
#ifndef LIBQA_AGENT_WATCH_H
#define LIBQA_AGENT_WATCH_H

#include <stdbool.h>

#include "address.h"

/*
 * A directory that is watched, and the name in it that is waited for: the socket, or, when its directory is missing,
 * the first missing directory on the way to it.
 */
struct agent_spot {
	int wd;
	char name[QP_ADDRESS_BYTES + 1];
};

struct agent_watch {
	int fd; /* to poll; -1: not armed */
	int count;
	bool has_blind_spot; /* a place that can not be watched: look there now and then */
	struct agent_spot spots[QP_ADDRESSES];
};

void agent_watch_init(struct agent_watch *watch);

/*
 * Watches for all addresses, anew. Makes the user's own directories when they are missing, so that their parent, /tmp,
 * where much happens, need not be watched; with chosen (an explicit QAD_SOCKET) makes nothing and watches whatever is
 * there. To miss nothing: arm first, then try to connect, then sleep.
 */
void agent_watch_arm(struct agent_watch *watch, const struct qp_address *addresses, int count, bool chosen);

/* Reads what happened. True: qad may be there now, or a watch is gone; arm and try again. */
bool agent_watch_take(struct agent_watch *watch);

void agent_watch_disarm(struct agent_watch *watch);

#endif
