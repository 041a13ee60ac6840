/*
 * history: a range of what was recorded of one target.
 */
#include "describe.h"
#include "methods.h"
#include "write.h"

void method_history(struct client *client, uint32_t id, struct qp_reader *params)
{
	uint64_t pid = qp_read_u64(params, "pid");
	uint64_t step_s = qp_read_u64_or(params, "step_s", 1);
	struct history_query query = {
		.from_s = qp_read_u64_or(params, "from_s", UINT64_MAX),
		.to_s = qp_read_u64_or(params, "to_s", 0),
	};
	const struct target *target;

	if (method_refuse_bad(client, id, params))
		return;
	if (!history_step_of(step_s, &query.step)) {
		service_send_error(client, id, "bad_request", "\"step_s\" is 1 or 10");
		return;
	}
	target = method_find_target(client, id, pid);
	if (target == NULL)
		return;

	struct qp_buffer *out = service_begin_frame(client->service);
	qp_write_result(out, id);
	describe_target_history(out, target, &query, uv_now(client->service->loop));
	service_send_frame(client, id);
}
