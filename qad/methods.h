/*
 * methods.h - what a client may ask, docs/PROTOCOL.md. One file for each: method_<name>.c.
 *
 * A method reads its params and answers, now or later, exactly once, with service_send_frame or service_send_error.
 * That the client may have this many requests is checked before.
 */
#ifndef QAD_METHODS_H
#define QAD_METHODS_H

#include <stdint.h>

#include "read.h"
#include "service.h"

void method_ps(struct client *client, uint32_t id, struct qp_reader *params);
void method_stats(struct client *client, uint32_t id, struct qp_reader *params);
void method_map(struct client *client, uint32_t id, struct qp_reader *params);
void method_trim(struct client *client, uint32_t id, struct qp_reader *params);
void method_watch(struct client *client, uint32_t id, struct qp_reader *params);
void method_unwatch(struct client *client, uint32_t id, struct qp_reader *params);
void method_history(struct client *client, uint32_t id, struct qp_reader *params);
void method_health(struct client *client, uint32_t id, struct qp_reader *params);

/* trim with the param all; it is method_trim that reads the params. */
void method_trim_all(struct client *client, uint32_t id, const struct trim_order *order);

/* True, and the error bad_request sent, when a param was missing or of the wrong type. */
bool method_refuse_bad(struct client *client, uint32_t id, const struct qp_reader *params);

/* The target that the param pid names; NULL, and the error no_target sent, when the client can not see such a one. */
struct target *method_find_target(struct client *client, uint32_t id, uint64_t pid);

/* The error's code and sentence for an outcome that is not ANSWER_OK. */
enum { METHOD_MESSAGE_BYTES = QP_NAME_BYTES + 128 };
const char *method_outcome(enum answer_outcome outcome, const char *command, pid_t pid,
			   char message[METHOD_MESSAGE_BYTES]);
/* Answers with it. */
void method_send_outcome(struct client *client, uint32_t id, const struct target *target, enum answer_outcome outcome);

#endif
