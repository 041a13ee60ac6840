/*
 * Whatever happens, the connection and the list of targets are released here, so that a command is only its own work.
 */
#include "with_qad.h"

#include "answer.h"

int with_qad(const struct request *request, const struct resolve_query *query,
	     int (*work)(struct client *client, const struct request *request, const struct resolve_result *targets))
{
	struct resolve_result targets = {0};
	struct client client;
	int error, status = 0;

	client_init(&client);
	error = client_open(&client, request->socket);
	if (error < 0)
		status = client_fail(&client, error);
	else if (query)
		status = resolve_targets(&client, query, &targets);
	if (status == 0)
		status = work(&client, request, &targets);
	resolve_finish(&targets);
	client_finish(&client);
	return status;
}

int with_qad_ask(struct client *client, uint32_t id, const char *who, const struct qp_message **message)
{
	int error = client_ask(client, id, client->stats_ms, message);

	return error < 0 ? client_fail(client, error) : answer_check(*message, who);
}
