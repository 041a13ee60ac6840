/*
 * The tables of keys are those that json.c writes by. Figures that are null were not known; the first of them tells for
 * all.
 */
#include "json_read.h"

#include <inttypes.h>
#include <string.h>

#include "utf8.h"

static const json_t *value_of(struct json_reader *reader, const char *key)
{
	const json_t *value = json_object_get(reader->object, key);

	if (!value && !reader->bad)
		reader->bad = key;
	return value;
}

uint64_t json_read_u64(struct json_reader *reader, const char *key)
{
	const json_t *value = value_of(reader, key);

	if (value && json_is_integer(value) && json_integer_value(value) >= 0)
		return (uint64_t)json_integer_value(value);
	if (!reader->bad)
		reader->bad = key;
	return 0;
}

bool json_read_bool(struct json_reader *reader, const char *key)
{
	const json_t *value = value_of(reader, key);

	if (value && !json_is_boolean(value) && !reader->bad)
		reader->bad = key;
	return json_is_true(value);
}

void json_read_text(struct json_reader *reader, const char *key, char *text, size_t text_bytes)
{
	const json_t *value = value_of(reader, key);
	size_t length = 0;

	if (json_is_string(value)) {
		length = qp_utf8_cut(json_string_value(value), json_string_length(value), text_bytes - 1);
		memcpy(text, json_string_value(value), length);
	} else if (!reader->bad) {
		reader->bad = key;
	}
	text[length] = '\0';
}

static char *read_long_text(struct json_reader *reader, const char *key)
{
	const json_t *value = value_of(reader, key);
	char *text;

	if (!json_is_string(value))
		return NULL;
	text = strdup(json_string_value(value));
	if (!text)
		reader->bad = "out of memory";
	return text;
}

static void read_figures(struct json_reader *reader, const struct json_figure *figures, size_t count, void *values)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = json_read_u64(reader, figures[i].key);

		memcpy((char *)values + figures[i].offset, &value, sizeof(value));
	}
}

void json_read_target(struct json_reader *reader, struct target *target)
{
	const json_t *held;

	memset(target, 0, sizeof(*target));
	target->pid = json_read_u64(reader, "pid");
	target->inner_pid = json_read_u64(reader, "inner_pid");
	target->uid = json_read_u64(reader, "uid");
	target->uptime_s = json_read_u64(reader, "uptime_s");
	target->rss_bytes = json_read_u64(reader, "rss_bytes");
	target->is_silent = json_read_bool(reader, "silent");
	json_read_text(reader, "command", target->command, sizeof(target->command));
	json_read_text(reader, "name", target->name, sizeof(target->name));
	json_read_text(reader, "version", target->version, sizeof(target->version));
	target->exe = read_long_text(reader, "exe");
	target->cgroup = read_long_text(reader, "cgroup");
	/* A uid of another host has another name here. */
	snprintf(target->user, sizeof(target->user), "%" PRIu64, target->uid);
	held = value_of(reader, "held_bytes");
	target->has_figures = held && !json_is_null(held);
	if (!target->has_figures)
		return;
	target->age_ms = json_read_u64(reader, "age_ms");
	read_figures(reader, json_totals, JSON_TOTALS, &target->totals);
}

void json_read_class(struct json_reader *reader, struct qp_class *row)
{
	row->block_size = json_read_u64(reader, "block_size");
	json_read_text(reader, "name", row->name, sizeof(row->name));
	read_figures(reader, json_class, JSON_CLASS, row);
}
