/*
 * watch and unwatch: what a client wants to be told again and again. The work is watch.c's.
 */
#include <stdio.h>

#include "methods.h"
#include "write.h"

#define INTERVAL_MS 1000u
#define MOST_INTERVAL_MS 86400000u

static void refuse_interval(struct client *client, uint32_t id)
{
	char message[128];

	snprintf(message, sizeof(message), "\"interval_ms\" is from %llu to %u",
		 (unsigned long long)client->service->limits->watch_ms, MOST_INTERVAL_MS);
	service_send_error(client, id, "bad_request", message);
}

/* False, and refused, when this one watch more would be above a limit. */
static bool has_room(struct client *client, uint32_t id)
{
	const struct limits *limits = client->service->limits;
	const char *fault = NULL;

	if (client->watch_count >= limits->watches_of_client)
		fault = "you have as many watches as a client may have (limit watches_of_client)";
	else if (client->peer->account->watches >= limits->watches_of_user)
		fault = "your user has as many watches as it may have (limit watches_of_user)";
	if (fault != NULL)
		service_send_error(client, id, "busy", fault);
	return fault == NULL;
}

void method_watch(struct client *client, uint32_t id, struct qp_reader *params)
{
	struct service *service = client->service;
	bool has_pid = qp_read_value(params, "pid") != NULL;
	uint64_t pid = qp_read_u64_or(params, "pid", 0);
	uint64_t interval_ms = qp_read_u64_or(params, "interval_ms", INTERVAL_MS);
	struct watch_order order = {.with_classes = qp_read_bool_or(params, "classes", false)};

	if (method_refuse_bad(client, id, params))
		return;
	if (interval_ms < service->limits->watch_ms || interval_ms > MOST_INTERVAL_MS) {
		refuse_interval(client, id);
		return;
	}
	if (order.with_classes && !has_pid) {
		service_send_error(client, id, "bad_request", "\"classes\" is for one target: name its \"pid\"");
		return;
	}
	if (has_pid && method_find_target(client, id, pid) == NULL)
		return;
	if (!has_room(client, id))
		return;
	order.pid = (pid_t)pid;
	order.interval_ms = (uint32_t)interval_ms;

	uint32_t number = watching_add(&service->watching, client, &order);
	if (number == 0) {
		service_send_error(client, id, "failed", "qad is out of memory");
		return;
	}
	struct qp_buffer *out = service_begin_frame(service);
	qp_write_result(out, id);
	qp_write_map(out, 2);
	qp_write_key_u64(out, "watch", number);
	qp_write_key_u64(out, "interval_ms", interval_ms);
	service_send_frame(client, id);
}

void method_unwatch(struct client *client, uint32_t id, struct qp_reader *params)
{
	uint64_t number = qp_read_u64(params, "watch");

	if (method_refuse_bad(client, id, params))
		return;
	if (number > UINT32_MAX || !watching_remove(&client->service->watching, client, (uint32_t)number)) {
		service_send_error(client, id, "no_watch", "you have no such watch");
		return;
	}
	struct qp_buffer *out = service_begin_frame(client->service);
	qp_write_result(out, id);
	qp_write_map(out, 1);
	qp_write_key_u64(out, "watch", number);
	service_send_frame(client, id);
}
