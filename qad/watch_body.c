/*
 * Most watches of all targets see the same ones. What they are sent is encoded once a round, and copied for each.
 */
#include "watch_body.h"

#include "describe.h"
#include "protocol.h"
#include "service.h"
#include "write.h"

#define KEPT_BYTES (64u << 10)

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

void watch_make_body(struct watching *watching, const struct rights *rights)
{
	const struct registry *registry = &watching->service->registry;
	uint64_t now_ms = uv_now(watching->timer.loop);
	size_t count = 0, shown;

	if (watching->is_body_valid && watching->is_body_of_all == rights->sees_all &&
	    (rights->sees_all || watching->body_uid == rights->uid))
		return;
	qp_buffer_reset(&watching->body);
	for (size_t i = 0; i < registry->count; i++)
		count += is_shown(rights, registry->targets[i]);
	shown = count < QP_ARRAY_ELEMENTS ? count : QP_ARRAY_ELEMENTS;
	qp_write_key_u64(&watching->body, "left_out", count - shown);
	qp_write_string(&watching->body, "targets");
	qp_write_array(&watching->body, (uint32_t)shown);
	for (size_t i = 0; shown > 0; i++) {
		if (!is_shown(rights, registry->targets[i]))
			continue;
		watch_write_target(&watching->body, registry->targets[i], now_ms, false);
		shown--;
	}
	watching->is_body_valid = true;
	watching->is_body_of_all = rights->sees_all;
	watching->body_uid = rights->uid;
}

void watch_forget_body(struct watching *watching)
{
	watching->is_body_valid = false;
	if (watching->body.capacity_bytes > KEPT_BYTES)
		qp_buffer_finish(&watching->body);
}
