/*
 * What the methods have in common: refusing, finding the target, and the errors that a question can end with.
 */
#include "methods.h"

#include <limits.h>
#include <stdio.h>

bool method_refuse_bad(struct client *client, uint32_t id, const struct qp_reader *params)
{
	char message[128];

	if (params->bad == NULL)
		return false;
	snprintf(message, sizeof(message), "\"%s\" is missing or of the wrong type", params->bad);
	service_send_error(client, id, "bad_request", message);
	return true;
}

struct target *method_find_target(struct client *client, uint32_t id, uint64_t pid)
{
	struct target *target = pid <= INT_MAX ? registry_find(&client->service->registry, (pid_t)pid) : NULL;
	char message[128];

	/* One answer for both cases: who may not see a target does not learn that it is there. */
	if (target != NULL && access_may_see(&client->rights, target->peer->who.uid))
		return target;
	snprintf(message, sizeof(message), "no target has pid %llu, or you may not see it", (unsigned long long)pid);
	service_send_error(client, id, "no_target", message);
	return NULL;
}

const char *method_outcome(enum answer_outcome outcome, const char *command, pid_t pid,
			   char message[METHOD_MESSAGE_BYTES])
{
	static const struct {
		const char *code, *what;
	} texts[] = {
		[ANSWER_TIMEOUT] = {"timeout", "did not answer in time"},
		[ANSWER_GONE] = {"gone", "ended while it was asked"},
		[ANSWER_FAILED] = {"failed", "gave an answer that makes no sense"},
		[ANSWER_UNKNOWN] = {"unknown_method", "runs a version of libqa that does not know this yet"},
		[ANSWER_NO_CLASS] = {"no_class", "has no such size class or pool"},
	};

	snprintf(message, METHOD_MESSAGE_BYTES, "%s (pid %d) %s", command, (int)pid, texts[outcome].what);
	return texts[outcome].code;
}

void method_send_outcome(struct client *client, uint32_t id, const struct target *target, enum answer_outcome outcome)
{
	char message[METHOD_MESSAGE_BYTES];
	const char *code = method_outcome(outcome, target->process.command, target->peer->who.pid, message);

	service_send_error(client, id, code, message);
}
