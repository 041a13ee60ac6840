/*
 * One buffer serves all answers, since a frame is built and sent without the loop running in between. After a large one
 * its memory is given back: qad itself should not be what it is there to find.
 */
#include "service.h"

#include <stdlib.h>

#include "protocol.h"
#include "write.h"

#define KEPT_BYTES (64u << 10)
#define ERROR_BYTES 512u

void *call_create(struct client *client, uint32_t id, size_t size_bytes, void (*cancel)(struct call *))
{
	bool is_charged = account_charge(client->peer->account, size_bytes);
	struct call *call = is_charged ? calloc(1, size_bytes) : NULL;

	if (call == NULL) {
		if (is_charged)
			account_refund(client->peer->account, size_bytes);
		service_send_error(client, id, "busy", "qad has no memory left for requests of your user");
		return NULL;
	}
	*call = (struct call){.client = client, .id = id, .charged_bytes = size_bytes, .cancel = cancel};
	list_append(&client->calls, &call->link);
	client->call_count++;
	client->peer->account->requests++;
	return call;
}

void call_finish(struct call *call)
{
	struct client *client = call->client;

	list_remove(&call->link);
	client->call_count--;
	client->peer->account->requests--;
	account_refund(client->peer->account, call->charged_bytes);
	free(call);
}

void call_cancel_all(struct client *client)
{
	while (!list_is_empty(&client->calls)) {
		struct call *call = LIST_OWNER(client->calls.next, struct call, link);

		call->cancel(call);
		call_finish(call);
	}
}

struct qp_buffer *service_begin_frame(struct service *service)
{
	qp_buffer_reset(&service->out);
	return &service->out;
}

void service_end_frame(struct service *service)
{
	if (service->out.capacity_bytes > KEPT_BYTES)
		qp_buffer_finish(&service->out);
}

void service_send_frame(struct client *client, uint32_t id)
{
	struct qp_buffer *out = &client->service->out;

	if (out->failed)
		service_send_error(client, id, "failed",
				   "the answer is larger than a frame may be, or qad is out of memory");
	else
		peer_send(client->peer, out);
	service_end_frame(client->service);
}

void service_send_error(struct client *client, uint32_t id, const char *code, const char *message)
{
	uint8_t memory[ERROR_BYTES];
	struct qp_buffer frame;

	/* Not service->out: an error has to come through also when memory is out. */
	qp_buffer_init_fixed(&frame, memory, sizeof(memory));
	qp_write_error(&frame, id, code, message);
	peer_send(client->peer, &frame);
}
