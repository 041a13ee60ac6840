/*
 * The sums can not be had from the histories of the targets: those that ended have none any more, and so the past
 * would shrink with each that ends. So they have a history of their own, which grows when all targets are looked at.
 */
#include "total.h"

#include "service.h"

void total_record(struct service *service)
{
	const struct registry *registry = &service->registry;
	uint64_t now_ms = uv_now(service->loop), rss_bytes = 0;
	struct qp_totals sum = {0};

	for (size_t i = 0; i < registry->count; i++) {
		const struct target *target = registry->targets[i];
		const struct qp_totals *totals = &target->last.totals;

		if (target->peer->closing || !target->last.is_known)
			continue;
		sum.held_bytes += totals->held_bytes;
		sum.used_bytes += totals->used_bytes;
		sum.cached_bytes += totals->cached_bytes;
		sum.thread_bytes += totals->thread_bytes;
		sum.partial_bytes += totals->partial_bytes;
		sum.empty_bytes += totals->empty_bytes;
		sum.slack_bytes += totals->slack_bytes;
		rss_bytes += target->sample.rss_bytes;
	}
	if (!history_add(&service->total, now_ms, &sum, rss_bytes))
		log_trouble(service->log, now_ms, "out of memory: no history of all targets together");
}
