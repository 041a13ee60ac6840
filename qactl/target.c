/*
 * Decoding of what qad says about targets. qad vouches for who they are; what a target says of itself (name, figures)
 * is taken as it is and only made harmless where it is shown.
 */
#include "target.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "output.h"
#include "text.h"
#include "write.h"

/* A string of any length, on the heap; NULL if qad did not tell it, as in a watch. */
static char *read_long_string(struct qp_reader *reader, const char *key)
{
	const msgpack_object *value = qp_read_value(reader, key);
	size_t text_bytes;
	char *text;

	if (!value || value->type != MSGPACK_OBJECT_STR)
		return NULL;
	text_bytes = value->via.str.size + 1;
	text = calloc(1, text_bytes);
	if (!text)
		reader->bad = "out of memory";
	else
		qp_read_string(reader, key, text, text_bytes);
	return text;
}

/* Many targets have the same user, and who asks for each of thousands reads /etc/passwd as often: the last is kept. */
static void read_user(struct target *target)
{
	static uint64_t last_uid = UINT64_MAX;
	static char last_user[sizeof(target->user)];

	if (target->uid != last_uid) {
		const struct passwd *entry = getpwuid((uid_t)target->uid);

		if (entry)
			snprintf(last_user, sizeof(last_user), "%s", entry->pw_name);
		else
			snprintf(last_user, sizeof(last_user), "%" PRIu64, target->uid);
		last_uid = target->uid;
	}
	memcpy(target->user, last_user, sizeof(target->user));
}

void target_read(struct qp_reader *reader, struct target *target)
{
	memset(target, 0, sizeof(*target));
	target->pid = qp_read_u64(reader, "pid");
	target->uid = qp_read_u64(reader, "uid");
	target->uptime_s = qp_read_u64(reader, "uptime_s");
	target->rss_bytes = qp_read_u64(reader, "rss_bytes");
	target->inner_pid = qp_read_u64_or(reader, "inner_pid", target->pid);
	target->is_silent = qp_read_bool_or(reader, "silent", false);
	qp_read_string(reader, "command", target->command, sizeof(target->command));
	qp_read_string(reader, "name", target->name, sizeof(target->name));
	qp_read_string_or(reader, "version", target->version, sizeof(target->version), "");
	target->exe = read_long_string(reader, "exe");
	target->cgroup = read_long_string(reader, "cgroup");
	read_user(target);
	target->has_figures = qp_read_value(reader, "held_bytes") != NULL;
	if (!target->has_figures)
		return;
	target->age_ms = qp_read_u64_or(reader, "age_ms", 0);
	qp_read_totals(reader, &target->totals);
}

void target_finish(struct target *target)
{
	free(target->exe);
	free(target->cgroup);
	target->exe = target->cgroup = NULL;
}

void target_label(const char *command, const char *name, char *text, size_t text_bytes)
{
	char raw[2 * QP_NAME_BYTES + 4];

	if (*name && strcmp(name, command) != 0)
		snprintf(raw, sizeof(raw), "%s (%s)", command, name);
	else
		snprintf(raw, sizeof(raw), "%s", command);
	text_escape(text, text_bytes, raw);
}

static int by_pid(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int read_list(const struct qp_message *message, struct target_list *list)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	size_t count;
	const msgpack_object *rows = qp_read_array(&reader, "targets", &count);

	if (reader.bad)
		return answer_fail(&reader);
	list->items = calloc(count ? count : 1, sizeof(*list->items));
	if (!list->items)
		return output_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct qp_reader row = qp_reader_of(&rows[i]);

		target_read(&row, &list->items[list->count++]);
		if (row.bad)
			return answer_fail(&row);
	}
	qsort(list->items, list->count, sizeof(*list->items), by_pid);
	return 0;
}

int target_list_fetch(struct client *client, bool figures, struct target_list *list)
{
	const struct qp_message *message;
	struct qp_buffer *out;
	uint32_t id;
	int error, status;

	memset(list, 0, sizeof(*list));
	out = client_begin(client, "ps", &id);
	qp_write_map(out, 1);
	qp_write_key_bool(out, "figures", figures);
	error = client_ask(client, id, client->stats_ms, &message);
	if (error < 0)
		return client_fail(client, error);
	status = answer_check(message, NULL);
	if (status == 0)
		status = read_list(message, list);
	if (status != 0)
		target_list_finish(list);
	return status;
}

void target_list_finish(struct target_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		target_finish(&list->items[i]);
	free(list->items);
	memset(list, 0, sizeof(*list));
}
