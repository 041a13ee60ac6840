/*
 * JSON lines rather than MessagePack: a recording is looked at elsewhere, where jq is at hand and perhaps no qactl, and
 * a line that is damaged spoils no other.
 */
#include "record_line.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "json.h"
#include "json_read.h"

json_t *record_line_header(uint64_t interval_ms, bool classes)
{
	struct utsname system;
	json_t *line = json_object();

	json_object_set_new(line, "format", json_string(RECORD_FORMAT));
	json_object_set_new(line, "version", json_integer(RECORD_VERSION));
	json_object_set_new(line, "qactl", json_string(QA_VERSION_TEXT));
	json_object_set_new(line, "host", json_from_text(uname(&system) == 0 ? system.nodename : ""));
	json_object_set_new(line, "created_ms", json_from_u64(round_clock_ms()));
	json_object_set_new(line, "interval_ms", json_from_u64(interval_ms));
	json_object_set_new(line, "classes", json_boolean(classes));
	return line;
}

json_t *record_line_round(const struct round *round, bool classes)
{
	json_t *line = json_object(), *targets = json_array();

	json_object_set_new(line, "time_ms", json_from_u64(round->time_ms));
	for (size_t i = 0; i < round->count; i++) {
		const struct stats *item = &round->items[i];
		json_t *target = json_from_target(&item->target), *rows = classes ? json_array() : NULL;

		for (size_t row = 0; classes && row < item->row_count; row++)
			json_array_append_new(rows, json_from_class(&item->rows[row].figures));
		if (classes)
			json_object_set_new(target, "classes", rows);
		json_array_append_new(targets, target);
	}
	json_object_set_new(line, "targets", targets);
	return line;
}

json_t *record_line_end(uint64_t records)
{
	json_t *line = json_object();

	json_object_set_new(line, "end_ms", json_from_u64(round_clock_ms()));
	json_object_set_new(line, "records", json_from_u64(records));
	return line;
}

static const char *read_rows(const json_t *rows, struct stats *item)
{
	size_t count = json_array_size(rows);

	item->rows = calloc(count + 1, sizeof(*item->rows));
	if (!item->rows)
		return "out of memory";
	for (size_t i = 0; i < count; i++) {
		struct json_reader reader = {.object = json_array_get(rows, i)};

		json_read_class(&reader, &item->rows[item->row_count++].figures);
		if (reader.bad)
			return reader.bad;
	}
	return NULL;
}

const char *record_line_to_round(const json_t *line, struct round *round)
{
	struct json_reader reader = {.object = line};
	const json_t *targets = json_object_get(line, "targets");
	size_t count = json_array_size(targets);
	const char *bad;

	round->time_ms = json_read_u64(&reader, "time_ms");
	if (!json_is_array(targets))
		return "targets";
	if (reader.bad)
		return reader.bad;
	if (round_allocate(round, count) != 0)
		return "out of memory";
	for (size_t i = 0; i < count; i++) {
		struct json_reader target = {.object = json_array_get(targets, i)};
		struct stats *item = &round->items[round->count++];

		json_read_target(&target, &item->target);
		if (target.bad)
			return target.bad;
		bad = read_rows(json_object_get(target.object, "classes"), item);
		if (bad)
			return bad;
	}
	return NULL;
}
