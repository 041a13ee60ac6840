/*
 * Rows are read into memory of their own, of as many as the frame has; what a target says of itself is repaired where
 * it is text, and refused where it is anything else than the figures that were asked for. Bytes must add up and be
 * such as a process can have, so that no sum over all targets can overflow: one that lies spoils its own figures only.
 */
#include "answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "text.h"

/* No process can hold more, and 2^13 connections of it are still below what the JSON library has for a number. */
#define BYTES_MOST ((uint64_t)1 << 50)

static bool adds_up(uint64_t held, uint64_t used, uint64_t cached, const uint64_t parts[4])
{
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++) {
		if (parts[i] > BYTES_MOST)
			return false;
		sum += parts[i];
	}
	return held <= BYTES_MOST && used <= held && cached == held - used && sum == cached;
}

static bool totals_add_up(const struct qp_totals *totals)
{
	return totals->unreachable_bytes <= BYTES_MOST &&
	       adds_up(totals->held_bytes, totals->used_bytes, totals->cached_bytes,
		       (const uint64_t[]){totals->thread_bytes, totals->partial_bytes, totals->empty_bytes,
					  totals->slack_bytes});
}

static bool row_adds_up(const struct qp_class *row)
{
	return adds_up(row->held_bytes, row->used_bytes, row->cached_bytes,
		       (const uint64_t[]){row->thread_bytes, row->partial_bytes, row->empty_bytes, row->slack_bytes});
}

enum answer_outcome answer_outcome_of_error(const struct qp_message *message)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	char code[16];

	qp_read_string_or(&reader, "code", code, sizeof(code), "");
	if (message->has_error && strcmp(code, "no_class") == 0)
		return ANSWER_NO_CLASS;
	return message->has_error && strcmp(code, "unknown_method") == 0 ? ANSWER_UNKNOWN : ANSWER_FAILED;
}

int answer_read_figures(const struct qp_message *message, bool with_rows, struct figures *figures)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	const msgpack_object *elements;
	size_t count;

	qp_read_totals(&reader, &figures->totals);
	if (reader.bad != NULL || !totals_add_up(&figures->totals))
		return -EBADMSG;
	if (!with_rows)
		return 0;

	elements = qp_read_array(&reader, "classes", &count);
	if (reader.bad != NULL)
		return -EBADMSG;
	figures->rows = calloc(count > 0 ? count : 1, sizeof(*figures->rows));
	if (figures->rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct qp_reader row = qp_reader_of(&elements[i]);

		qp_read_class(&row, &figures->rows[i]);
		if (row.bad != NULL || !row_adds_up(&figures->rows[i])) {
			free(figures->rows);
			return -EBADMSG;
		}
		text_repair(figures->rows[i].name, sizeof(figures->rows[i].name));
	}
	if (merge_rows(figures->rows, &count, sizeof(*figures->rows)) != 0) {
		free(figures->rows);
		return -ENOMEM;
	}
	figures->row_count = count;
	return 0;
}

int answer_read_map(const struct qp_message *message, struct occupancy *map)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	const msgpack_object *elements;

	map->page_size = qp_read_u64(&reader, "page_size");
	elements = qp_read_array(&reader, "classes", &map->row_count);
	if (reader.bad != NULL)
		return -EBADMSG;
	map->rows = calloc(map->row_count > 0 ? map->row_count : 1, sizeof(*map->rows));
	if (map->rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < map->row_count; i++) {
		struct qp_reader row = qp_reader_of(&elements[i]);

		qp_read_class_map(&row, &map->rows[i]);
		if (row.bad != NULL) {
			free(map->rows);
			return -EBADMSG;
		}
		text_repair(map->rows[i].name, sizeof(map->rows[i].name));
	}
	if (merge_rows(map->rows, &map->row_count, sizeof(*map->rows)) != 0) {
		free(map->rows);
		return -ENOMEM;
	}
	return 0;
}

int answer_read_trim(const struct qp_message *message, struct qp_trim *trim)
{
	struct qp_reader reader = qp_reader_of(&message->body);

	qp_read_trim(&reader, trim);
	if (reader.bad != NULL || trim->returned_bytes > BYTES_MOST || trim->held_before_bytes > BYTES_MOST ||
	    trim->held_after_bytes > BYTES_MOST || trim->cached_before_bytes > trim->held_before_bytes ||
	    trim->cached_after_bytes > trim->held_after_bytes)
		return -EBADMSG;
	return 0;
}
