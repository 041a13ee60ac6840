/*
 * Most watches of all targets see the same ones. What they are sent is encoded once a round, and all have the same
 * bytes.
 */
#include "watch_body.h"

#include "body.h"
#include "describe.h"
#include "protocol.h"
#include "service.h"
#include "write.h"

/* So old it may be for somebody who comes after the round. */
#define YOUNG_MS 100u

void watch_write_target(struct qp_buffer *out, const struct target *target, uint64_t now_ms, bool with_classes)
{
	bool has_figures = target->last.is_known;
	size_t rows = with_classes && has_figures ? target->last.row_count : 0;

	qp_write_map(out, DESCRIBE_BRIEF_PAIRS + (has_figures ? DESCRIBE_TOTALS_PAIRS : 0) + with_classes);
	describe_target_briefly(out, target, &target->sample);
	if (has_figures)
		describe_totals(out, &target->last.totals, now_ms - target->last.at_ms);
	if (!with_classes)
		return;
	qp_write_string(out, "classes");
	qp_write_array(out, (uint32_t)rows);
	for (size_t i = 0; i < rows; i++)
		qp_write_class(out, &target->last.rows[i]);
}

static bool is_shown(const struct rights *rights, const struct target *target)
{
	return !target->peer->closing && access_may_see(rights, target->peer->who.uid);
}

static void write_all(struct qp_buffer *out, const struct registry *registry, const struct rights *rights,
		      uint64_t now_ms)
{
	size_t count = 0, shown;

	for (size_t i = 0; i < registry->count; i++)
		count += is_shown(rights, registry->targets[i]);
	shown = count < QP_ARRAY_ELEMENTS ? count : QP_ARRAY_ELEMENTS;
	qp_write_key_u64(out, "left_out", count - shown);
	qp_write_string(out, "targets");
	qp_write_array(out, (uint32_t)shown);
	for (size_t i = 0; shown > 0; i++) {
		if (!is_shown(rights, registry->targets[i]))
			continue;
		watch_write_target(out, registry->targets[i], now_ms, false);
		shown--;
	}
}

static bool is_for(const struct watching *watching, const struct rights *rights, uint64_t now_ms)
{
	return watching->body != NULL && now_ms - watching->body_ms <= YOUNG_MS &&
	       watching->is_body_of_all == rights->sees_all && (rights->sees_all || watching->body_uid == rights->uid);
}

struct body *watch_make_body(struct watching *watching, const struct rights *rights)
{
	uint64_t now_ms = uv_now(watching->timer.loop);

	if (is_for(watching, rights, now_ms))
		return watching->body;
	watch_forget_body(watching);
	watching->body = body_create(watching->service->limits->frame_answer_bytes);
	if (watching->body == NULL)
		return NULL;
	watching->is_body_of_all = rights->sees_all;
	watching->body_uid = rights->uid;
	watching->body_ms = now_ms;
	write_all(&watching->body->bytes, &watching->service->registry, rights, now_ms);
	return watching->body;
}

void watch_forget_body(struct watching *watching)
{
	body_release(watching->body);
	watching->body = NULL;
}

void watch_rest_body(struct watching *watching)
{
	if (watching->body != NULL && watching->body->references == 1)
		watch_forget_body(watching);
}
