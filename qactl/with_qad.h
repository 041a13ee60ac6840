/*
 * with_qad.h - the frame of every command that asks qad: connect, find out whom TARGET means, work, close.
 */
#ifndef QACTL_WITH_QAD_H
#define QACTL_WITH_QAD_H

#include "client.h"
#include "command.h"
#include "resolve.h"

/*
 * Calls work with the targets that query means; with query NULL, with none. Returns the exit status of what failed
 * first, after having said why, else work's.
 */
int with_qad(const struct request *request, const struct resolve_query *query,
	     int (*work)(struct client *client, const struct request *request, const struct resolve_result *targets));

/* Sends what was begun with client_begin and waits for its result. An exit status; who is as for answer_check. */
int with_qad_ask(struct client *client, uint32_t id, const char *who, const struct qp_message **message);

#endif
