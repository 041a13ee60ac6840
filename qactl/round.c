/*
 * Rows of classes are there only when they were asked for, and figures only when the target ever answered: so this
 * decodes less strictly than stats_read.
 */
#include "round.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "output.h"
#include "stats_read.h"

uint64_t round_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int round_allocate(struct round *round, size_t count)
{
	round->items = calloc(count ? count : 1, sizeof(*round->items));
	if (round->items)
		return 0;
	return output_no_memory();
}

static int read_item(struct qp_reader *reader, struct stats *item)
{
	const msgpack_object *rows = NULL;
	size_t count = 0;

	target_read(reader, &item->target);
	if (qp_read_value(reader, "classes"))
		rows = qp_read_array(reader, "classes", &count);
	if (reader->bad)
		return answer_fail(reader);
	return count ? stats_read_rows(rows, count, item) : 0;
}

int round_read(struct qp_reader *reader, uint64_t time_ms, struct round *round)
{
	size_t count;
	const msgpack_object *targets = qp_read_array(reader, "targets", &count);
	int status;

	round->time_ms = time_ms;
	round->left_out = qp_read_u64_or(reader, "left_out", 0);
	round->dropped = qp_read_u64_or(reader, "dropped", 0);
	if (reader->bad)
		return answer_fail(reader);
	status = round_allocate(round, count);
	for (size_t i = 0; status == 0 && i < count; i++) {
		struct qp_reader row = qp_reader_of(&targets[i]);

		status = read_item(&row, &round->items[round->count++]);
	}
	return status;
}

void round_finish(struct round *round)
{
	for (size_t i = 0; i < round->count; i++)
		stats_finish(&round->items[i]);
	free(round->items);
	memset(round, 0, sizeof(*round));
}
