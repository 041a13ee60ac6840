/*
 * session.h - the life of a connection in the protocol: hello, then requests of a client or answers of a target.
 */
#ifndef QAD_SESSION_H
#define QAD_SESSION_H

#include "peer.h"
#include "service.h"

/* The events of struct peer_events; peers->owner is not used here, service is passed. */
void session_on_message(struct service *service, struct peer *peer, struct qp_message *message);
void session_on_gone(struct service *service, struct peer *peer);
void session_on_drained(struct service *service, struct peer *peer);

#endif
