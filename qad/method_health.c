/*
 * health: how qad itself is. Anybody who may connect may ask; it tells nothing about single targets.
 */
#include <string.h>

#include "describe.h"
#include "health.h"
#include "methods.h"
#include "text.h"
#include "write.h"

static void write_limits(struct qp_buffer *out, const struct limits *limits)
{
	struct limit_range range;
	uint64_t value;
	const char *name;

	qp_write_string(out, "limits");
	qp_write_map(out, (uint32_t)limits_count());
	for (size_t i = 0; (name = limits_at(limits, i, &value, &range)) != NULL; i++)
		qp_write_key_u64(out, name, value);
}

/* As the command line has it, made UTF-8; empty: none. */
static void write_group(struct qp_buffer *out, const char *key, const char *name)
{
	char text[QP_NAME_BYTES + 1];

	text_copy(text, sizeof(text), name != NULL ? name : "", name != NULL ? strlen(name) : 0);
	qp_write_key_string(out, key, text);
}

void describe_health(struct qp_buffer *out, const struct service *service)
{
	const struct health_key *key;
	struct health health;

	health_gather(service, &health);
	qp_write_map(out, (uint32_t)health_keys() + 4);
	qp_write_key_string(out, "version", QA_VERSION_TEXT);
	write_group(out, "read_group", service->access.read_name);
	write_group(out, "admin_group", service->access.admin_name);
	for (size_t i = 0; (key = health_key_at(i)) != NULL; i++) {
		if (key->is_bool)
			qp_write_key_bool(out, key->name, health_value(&health, key) != 0);
		else
			qp_write_key_u64(out, key->name, health_value(&health, key));
	}
	write_limits(out, service->limits);
}

void method_health(struct client *client, uint32_t id, struct qp_reader *params)
{
	struct qp_buffer *out;

	if (method_refuse_bad(client, id, params))
		return;
	out = service_begin_frame(client->service);
	qp_write_result(out, id);
	describe_health(out, client->service);
	service_send_frame(client, id);
}
