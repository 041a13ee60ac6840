/*
 * Tables of keys, as in proto/figures.c: what is printed is not what came over the wire but what this qactl knows, so
 * that its output does not change with qad's version. Only ASCII is printed, as a name can hold what a terminal obeys.
 */
#include "json.h"

#include <stdio.h>
#include <string.h>

#include "output.h"
#include "utf8.h"

#define FIGURE(type, member)                           \
	{                                              \
#member, offsetof(struct type, member) \
	}

const struct json_figure json_totals[JSON_TOTALS] = {
	FIGURE(qp_totals, page_size),         FIGURE(qp_totals, threads),      FIGURE(qp_totals, held_bytes),
	FIGURE(qp_totals, used_bytes),        FIGURE(qp_totals, cached_bytes), FIGURE(qp_totals, thread_bytes),
	FIGURE(qp_totals, partial_bytes),     FIGURE(qp_totals, empty_bytes),  FIGURE(qp_totals, slack_bytes),
	FIGURE(qp_totals, unreachable_bytes), FIGURE(qp_totals, allocs),       FIGURE(qp_totals, frees),
};

const struct json_figure json_class[JSON_CLASS] = {
	FIGURE(qp_class, pages),        FIGURE(qp_class, held_bytes),   FIGURE(qp_class, used_bytes),
	FIGURE(qp_class, cached_bytes), FIGURE(qp_class, thread_bytes), FIGURE(qp_class, partial_bytes),
	FIGURE(qp_class, empty_bytes),  FIGURE(qp_class, slack_bytes),  FIGURE(qp_class, used_blocks),
	FIGURE(qp_class, allocs),       FIGURE(qp_class, frees),
};

json_t *json_from_u64(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

uint64_t json_figure_of(const struct json_figure *figure, const void *values)
{
	uint64_t value;

	memcpy(&value, (const char *)values + figure->offset, sizeof(value));
	return value;
}

/* values NULL: all are null. */
static void add_figures(json_t *object, const struct json_figure *figures, size_t count, const void *values)
{
	for (size_t i = 0; i < count; i++) {
		json_t *value = values ? json_from_u64(json_figure_of(&figures[i], values)) : json_null();

		json_object_set_new(object, figures[i].key, value);
	}
}

json_t *json_from_text(const char *text)
{
	json_t *value = json_string(text);
	char *mended;
	size_t used = 0;

	if (value)
		return value;
	mended = malloc(strlen(text) * 3 + 1);
	if (!mended)
		return NULL;
	while (*text) {
		size_t length = qp_utf8_character(text, strnlen(text, 4));

		memcpy(mended + used, length ? text : QP_UTF8_REPLACEMENT, length ? length : 3);
		used += length ? length : 3;
		text += length ? length : 1;
	}
	value = json_stringn(mended, used);
	free(mended);
	return value;
}

static json_t *json_from_text_or_null(const char *text)
{
	return text ? json_from_text(text) : json_null();
}

json_t *json_from_target(const struct target *target)
{
	json_t *object = json_object();
	const void *totals = target->has_figures ? &target->totals : NULL;

	json_object_set_new(object, "pid", json_from_u64(target->pid));
	json_object_set_new(object, "inner_pid", json_from_u64(target->inner_pid));
	json_object_set_new(object, "uid", json_from_u64(target->uid));
	json_object_set_new(object, "command", json_from_text(target->command));
	json_object_set_new(object, "name", json_from_text(target->name));
	json_object_set_new(object, "exe", json_from_text_or_null(target->exe));
	json_object_set_new(object, "cgroup", json_from_text_or_null(target->cgroup));
	json_object_set_new(object, "version", json_from_text(target->version));
	json_object_set_new(object, "uptime_s", json_from_u64(target->uptime_s));
	json_object_set_new(object, "silent", json_boolean(target->is_silent));
	json_object_set_new(object, "age_ms", totals ? json_from_u64(target->age_ms) : json_null());
	json_object_set_new(object, "rss_bytes", json_from_u64(target->rss_bytes));
	add_figures(object, json_totals, JSON_TOTALS, totals);
	return object;
}

json_t *json_from_class(const struct qp_class *row)
{
	json_t *object = json_object();

	json_object_set_new(object, "block_size", json_from_u64(row->block_size));
	json_object_set_new(object, "name", json_from_text(row->name));
	add_figures(object, json_class, JSON_CLASS, row);
	return object;
}

static int print_as(json_t *value, size_t flags)
{
	/* jansson gives NULL only when out of memory, and a whole value is never printed in part. */
	char *text = value ? json_dumps(value, flags | JSON_ENSURE_ASCII) : NULL;

	json_decref(value);
	if (!text)
		return output_no_memory();
	puts(text);
	free(text);
	return 0;
}

int json_print(json_t *value)
{
	return print_as(value, JSON_INDENT(2));
}

int json_print_line(json_t *value)
{
	return print_as(value, JSON_COMPACT);
}
