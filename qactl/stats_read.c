/*
 * The row behind the last is kept free: the table wants it for totals.
 */
#include "stats_read.h"

#include <stdlib.h>
#include <sysexits.h>

#include "answer.h"
#include "output.h"

int stats_read_rows(const msgpack_object *rows, size_t count, struct stats *stats)
{
	/* One more for the row of totals. */
	stats->rows = calloc(count + 1, sizeof(*stats->rows));
	if (!stats->rows) {
		output_say("out of memory");
		return EX_OSERR;
	}
	for (size_t i = 0; i < count; i++) {
		struct qp_reader row = qp_reader_of(&rows[i]);

		qp_read_class(&row, &stats->rows[stats->row_count++].figures);
		if (row.bad)
			return answer_fail(&row);
	}
	return 0;
}

int stats_read(const msgpack_object *object, struct stats *stats)
{
	struct qp_reader reader = qp_reader_of(object);
	const msgpack_object *rows;
	size_t count;

	target_read(&reader, &stats->target);
	rows = qp_read_array(&reader, "classes", &count);
	if (!reader.bad && !stats->target.has_figures)
		reader.bad = "held_bytes";
	if (reader.bad)
		return answer_fail(&reader);
	return stats_read_rows(rows, count, stats);
}

void stats_finish(struct stats *stats)
{
	free(stats->rows);
	target_finish(&stats->target);
}
