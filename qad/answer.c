/*
 * Rows are read into memory of their own, of as many as the frame has; what a target says of itself is repaired where
 * it is text, and refused where it is anything else than the figures that were asked for.
 */
#include "answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

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
	if (reader.bad != NULL)
		return -EBADMSG;
	if (!with_rows)
		return 0;

	elements = qp_read_array(&reader, "classes", &count);
	if (reader.bad != NULL)
		return -EBADMSG;
	figures->rows = calloc(count > 0 ? count : 1, sizeof(*figures->rows));
	if (figures->rows == NULL)
		return -ENOMEM;
	figures->row_count = count;
	for (size_t i = 0; i < count; i++) {
		struct qp_reader row = qp_reader_of(&elements[i]);

		qp_read_class(&row, &figures->rows[i]);
		if (row.bad != NULL) {
			free(figures->rows);
			return -EBADMSG;
		}
		text_repair(figures->rows[i].name, sizeof(figures->rows[i].name));
	}
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
	return 0;
}
