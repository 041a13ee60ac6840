/*
 * health: how qad itself is. The answer is shown key by key, so that what a later qad tells is shown too.
 */
#include <inttypes.h>
#include <string.h>

#include "answer.h"
#include "client.h"
#include "command.h"
#include "json.h"
#include "output.h"
#include "size.h"
#include "text.h"
#include "with_qad.h"
#include "write.h"

static json_t *json_from_object(const msgpack_object *object)
{
	json_t *map;
	char text[512];

	switch (object->type) {
	case MSGPACK_OBJECT_BOOLEAN:
		return json_boolean(object->via.boolean);
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		return json_from_u64(object->via.u64);
	case MSGPACK_OBJECT_STR:
		snprintf(text, sizeof(text), "%.*s", (int)object->via.str.size, object->via.str.ptr);
		return json_from_text(text);
	case MSGPACK_OBJECT_MAP:
		map = json_object();
		for (uint32_t i = 0; i < object->via.map.size; i++) {
			const msgpack_object *key = &object->via.map.ptr[i].key;

			if (key->type != MSGPACK_OBJECT_STR)
				continue;
			snprintf(text, sizeof(text), "%.*s", (int)key->via.str.size, key->via.str.ptr);
			json_object_set_new(map, text, json_from_object(&object->via.map.ptr[i].val));
		}
		return map;
	default:
		return json_null();
	}
}

struct health {
	char version[64], read_group[QP_NAME_BYTES + 1], admin_group[QP_NAME_BYTES + 1];
	uint64_t pid, uptime_s, rss_bytes, cpu_us, targets, silent_targets, clients, users, before_hello;
	uint64_t watches, trims, trim_bytes, history_bytes, dropped_peers, dropped_notifications, questions;
	uint64_t http_requests, http_refused, http_connections;
	bool is_short, records_all, http_on, http_allows_trim;
};

static void health_read(struct qp_reader *reader, struct health *health)
{
	qp_read_string(reader, "version", health->version, sizeof(health->version));
	health->pid = qp_read_u64(reader, "pid");
	health->uptime_s = qp_read_u64(reader, "uptime_s");
	health->rss_bytes = qp_read_u64(reader, "rss_bytes");
	health->cpu_us = qp_read_u64(reader, "cpu_us");
	health->targets = qp_read_u64(reader, "targets");
	health->silent_targets = qp_read_u64(reader, "silent_targets");
	health->clients = qp_read_u64(reader, "clients");
	health->users = qp_read_u64(reader, "users");
	health->before_hello = qp_read_u64(reader, "before_hello");
	health->watches = qp_read_u64(reader, "watches");
	health->questions = qp_read_u64(reader, "questions");
	health->trims = qp_read_u64(reader, "trims");
	health->trim_bytes = qp_read_u64(reader, "trim_bytes");
	health->history_bytes = qp_read_u64(reader, "history_bytes");
	health->dropped_peers = qp_read_u64(reader, "dropped_peers");
	health->dropped_notifications = qp_read_u64(reader, "dropped_notifications");
	health->is_short = qp_read_bool(reader, "is_short_of_descriptors");
	health->records_all = qp_read_bool(reader, "records_all");
	qp_read_string_or(reader, "read_group", health->read_group, sizeof(health->read_group), "");
	qp_read_string_or(reader, "admin_group", health->admin_group, sizeof(health->admin_group), "");
	health->http_on = qp_read_bool_or(reader, "http_on", false);
	health->http_allows_trim = qp_read_bool_or(reader, "http_allows_trim", false);
	health->http_requests = qp_read_u64_or(reader, "http_requests", 0);
	health->http_refused = qp_read_u64_or(reader, "http_refused", 0);
	health->http_connections = qp_read_u64_or(reader, "http_connections", 0);
}

static void print_own(const struct client *client, const struct health *health)
{
	char path[CLIENT_PATH_TEXT_BYTES], version[160], uptime[SIZE_TEXT], rss[SIZE_TEXT], cpu[SIZE_TEXT],
		history[SIZE_TEXT];

	client_path_text(client, path);
	text_escape(version, sizeof(version), health->version);
	size_format_uptime(health->uptime_s, uptime, sizeof(uptime));
	size_format(health->rss_bytes, rss, sizeof(rss));
	size_format_duration(health->cpu_us, cpu, sizeof(cpu));
	size_format(health->history_bytes, history, sizeof(history));
	printf("qad %s, pid %" PRIu64 ", at %s, up %s\n", version, health->pid, path, uptime);
	printf("  memory   %s resident, of this %s of history%s\n", rss, history,
	       health->records_all ? " (of all targets)" : "");
	printf("  time     %s of processor\n", cpu);
}

/* Who may more than see and trim their own. */
static void print_access(const struct health *health)
{
	char readers[4 * QP_NAME_BYTES + 1], admins[4 * QP_NAME_BYTES + 1];

	text_escape(readers, sizeof(readers), health->read_group);
	text_escape(admins, sizeof(admins), health->admin_group);
	fputs("  access   root", stdout);
	if (admins[0])
		printf(" and group %s", admins);
	fputs(admins[0] ? " see and trim all" : " sees and trims all", stdout);
	if (readers[0])
		printf("; group %s sees all", readers);
	puts("");
}

static void print(const struct client *client, const struct health *health)
{
	char trimmed[SIZE_TEXT];

	size_format(health->trim_bytes, trimmed, sizeof(trimmed));
	print_own(client, health);
	printf("  targets  %" PRIu64 ", %" PRIu64 " of them silent; %" PRIu64 " questions asked\n", health->targets,
	       health->silent_targets, health->questions);
	printf("  clients  %" PRIu64 " with %" PRIu64 " watches; %" PRIu64 " connections before hello\n",
	       health->clients, health->watches, health->before_hello);
	printf("  users    %" PRIu64 " with connections\n", health->users);
	printf("  trims    %" PRIu64 ", %s returned\n", health->trims, trimmed);
	printf("  dropped  %" PRIu64 " peers for a fault, %" PRIu64 " notifications for slow readers\n",
	       health->dropped_peers, health->dropped_notifications);
	print_access(health);
	if (health->http_on)
		printf("  http     %" PRIu64 " connections, %" PRIu64 " requests, %" PRIu64 " refused; trims are %s\n",
		       health->http_connections, health->http_requests, health->http_refused,
		       health->http_allows_trim ? "allowed" : "off");
	if (health->is_short)
		printf("  NO CONNECTION CAN BE ACCEPTED: qad is out of descriptors; raise LimitNOFILE= or ulimit -n\n");
}

static void print_limits(const msgpack_object *limits)
{
	if (!limits || limits->type != MSGPACK_OBJECT_MAP)
		return;
	printf("  limits\n");
	for (uint32_t i = 0; i < limits->via.map.size; i++) {
		const msgpack_object_kv *pair = &limits->via.map.ptr[i];
		char name[256], raw[64];

		if (pair->key.type != MSGPACK_OBJECT_STR || pair->val.type != MSGPACK_OBJECT_POSITIVE_INTEGER)
			continue;
		snprintf(raw, sizeof(raw), "%.*s", (int)pair->key.via.str.size, pair->key.via.str.ptr);
		text_escape(name, sizeof(name), raw);
		printf("    %-22s %" PRIu64 "\n", name, pair->val.via.u64);
	}
}

static int show(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	const struct qp_message *message;
	struct health health;
	uint32_t id;
	struct qp_buffer *out = client_begin(client, "health", &id);
	int status;

	(void)targets; /* it is about qad */
	qp_write_map(out, 0);
	status = with_qad_ask(client, id, NULL, &message);
	if (status != 0)
		return status;
	if (request->given & OPTION_JSON)
		return json_print(json_from_object(&message->body));
	struct qp_reader reader = qp_reader_of(&message->body);
	health_read(&reader, &health);
	if (reader.bad)
		return answer_fail(&reader);
	print(client, &health);
	print_limits(qp_read_value(&reader, "limits"));
	return 0;
}

static int run(const struct request *request)
{
	return with_qad(request, NULL, show);
}

const struct command command_health = {
	.name = "health",
	.operand = "",
	.summary = "show how qad itself is",
	.description = "Shows qad's version, memory and processor time, how many targets and clients it\n"
		       "has, what it dropped, and the limits in force.\n",
	.options = OPTION_JSON,
	.run = run,
};
