/*
 * Notifications. A client whose earlier output still waits gets none now; the newest figures follow when it is written.
 */
#include <stdlib.h>

#include "body.h"
#include "service.h"
#include "watch_body.h"
#include "watch_core.h"
#include "write.h"

void watch_destroy(struct watch *watch)
{
	list_remove(&watch->link);
	list_remove(&watch->of_client);
	watch->client->watch_count--;
	watch->client->peer->account->watches--;
	free(watch);
}

bool watch_is_of(const struct watch *watch, const struct target *target)
{
	const struct identity *who = &target->peer->who;

	if (watch->order.pid != 0)
		return watch->order.pid == who->pid && watch->start_ticks == target->process.start_ticks;
	return access_may_see(&watch->client->rights, who->uid);
}

void watch_end(struct watch *watch, const char *code, const char *message)
{
	uint8_t memory[512];
	struct qp_buffer frame;

	qp_buffer_init_fixed(&frame, memory, sizeof(memory));
	qp_write_notification(&frame, "unwatched");
	qp_write_map(&frame, 4);
	qp_write_key_u64(&frame, "watch", watch->id);
	qp_write_key_u64(&frame, "pid", (uint64_t)watch->order.pid);
	qp_write_key_string(&frame, "code", code);
	qp_write_key_string(&frame, "message", message);
	peer_send(watch->client->peer, &frame);
	watch_destroy(watch);
}

const struct target *watch_target(const struct watch *watch)
{
	const struct target *target = registry_find(&watch->client->service->registry, watch->order.pid);

	return target != NULL && watch_is_of(watch, target) ? target : NULL;
}

static void write_head(struct qp_buffer *out, const struct watch *watch)
{
	qp_write_notification(out, "figures");
	qp_write_map(out, 4);
	qp_write_key_u64(out, "watch", watch->id);
	qp_write_key_u64(out, "dropped", watch->dropped);
}

static void write_one(struct qp_buffer *out, const struct watch *watch, const struct target *target)
{
	qp_write_key_u64(out, "left_out", 0);
	qp_write_string(out, "targets");
	qp_write_array(out, 1);
	watch_write_target(out, target, uv_now(watch->client->service->loop), watch->order.with_classes);
}

/* The end of the frame, or NULL and the frame has failed. */
static struct body *end_with_all(struct qp_buffer *out, struct watching *watching, const struct watch *watch)
{
	struct body *body = watch_make_body(watching, &watch->client->rights);

	if (body != NULL && !body->bytes.failed && body->bytes.used_bytes <= out->limit_bytes - out->used_bytes)
		return body;
	out->failed = true;
	return NULL;
}

void watch_notify(struct watching *watching, struct watch *watch)
{
	bool is_of_one = watch->order.pid != 0;
	const struct target *target = is_of_one ? watch_target(watch) : NULL;
	struct peer *peer = watch->client->peer;
	struct body *body = NULL;

	if (peer->closing)
		return;
	if (peer_has_output(peer)) {
		watch->is_owed = true;
		watch->dropped++;
		watching->dropped++;
		return;
	}
	watch->is_owed = false;
	if (is_of_one && target == NULL)
		return; /* it is just going */

	struct qp_buffer *out = service_begin_frame(watching->service);
	write_head(out, watch);
	if (is_of_one)
		write_one(out, watch, target);
	else
		body = end_with_all(out, watching, watch);
	if (out->failed) {
		watch_end(watch, "failed", "the figures are larger than a frame may be, or qad is out of memory");
	} else {
		watching->notifications++;
		peer_send_with(peer, out, body);
	}
	service_end_frame(watching->service);
}
