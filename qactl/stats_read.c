/*
 * The row behind the last is kept free: the table wants it for totals.
 */
#include "stats_read.h"

#include <errno.h>
#include <stdlib.h>
#include <sysexits.h>

#include "answer.h"
#include "output.h"

static int decode_rows(const msgpack_object *rows, size_t count, struct stats *stats, const char **bad)
{
	/* One more for the row of totals. */
	stats->rows = calloc(count + 1, sizeof(*stats->rows));
	if (!stats->rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct qp_reader row = qp_reader_of(&rows[i]);

		qp_read_class(&row, &stats->rows[stats->row_count++].figures);
		*bad = row.bad;
		if (row.bad)
			return -EBADMSG;
	}
	return 0;
}

int stats_decode(const msgpack_object *object, struct stats *stats, const char **bad)
{
	struct qp_reader reader = qp_reader_of(object);
	const msgpack_object *rows;
	size_t count;

	target_read(&reader, &stats->target);
	rows = qp_read_array(&reader, "classes", &count);
	if (!reader.bad && !stats->target.has_figures)
		reader.bad = "held_bytes";
	*bad = reader.bad;
	return reader.bad ? -EBADMSG : decode_rows(rows, count, stats, bad);
}

/* The exit status for an error of the above, after having said what it is. */
static int say(int error, const char *bad)
{
	if (error == -EBADMSG)
		return answer_fail(&(struct qp_reader){.bad = bad});
	if (error < 0)
		output_say("out of memory");
	return error < 0 ? EX_OSERR : 0;
}

int stats_read(const msgpack_object *object, struct stats *stats)
{
	const char *bad = NULL;
	int error = stats_decode(object, stats, &bad);

	return say(error, bad);
}

int stats_read_rows(const msgpack_object *rows, size_t count, struct stats *stats)
{
	const char *bad = NULL;
	int error = decode_rows(rows, count, stats, &bad);

	return say(error, bad);
}

void stats_finish(struct stats *stats)
{
	free(stats->rows);
	target_finish(&stats->target);
}
