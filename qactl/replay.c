/*
 * A damaged line costs only itself. The first few are told one by one, the rest as a number.
 */
#include "replay.h"

#include <inttypes.h>
#include <sysexits.h>

#include "output.h"
#include "record_reader.h"
#include "resolve.h"
#include "text.h"

enum { TOLD_LINES = 3, NAME_BYTES = 1024 };

struct replaying {
	const struct replay *replay;
	struct record_reader reader;
	char name[NAME_BYTES]; /* escaped */
	uint64_t damaged, shown;
};

/* Keeps those that are meant; the others are released. */
static void keep_meant(struct round *round, const char *target)
{
	size_t kept = 0;

	for (size_t i = 0; target && i < round->count; i++) {
		struct stats item = round->items[i];

		if (!resolve_is_meant(&item.target, target))
			continue;
		/* Swapped, so that the round still has them all to release. */
		round->items[i] = round->items[kept];
		round->items[kept++] = item;
	}
	round->count = target ? kept : round->count;
}

static int take_round(struct replaying *replaying, struct round *round)
{
	size_t count = round->count;
	int status = 0;

	keep_meant(round, replaying->replay->target);
	if (round->count > 0) {
		status = replaying->replay->take(replaying->replay->context, round, replaying->reader.has_classes);
		replaying->shown++;
	}
	round->count = count;
	return status;
}

static void tell_damage(struct replaying *replaying)
{
	const struct record_reader *reader = &replaying->reader;

	if (replaying->damaged++ < TOLD_LINES)
		output_say("%s: line %" PRIu64 ", at byte %" PRIu64 ", is damaged and left out: %s", replaying->name,
			   reader->line_number, reader->line_offset, reader->problem);
}

/* After the last line. */
static int finish(struct replaying *replaying)
{
	char target[512];

	if (replaying->damaged > TOLD_LINES)
		output_say("%s: %" PRIu64 " lines in all are damaged", replaying->name, replaying->damaged);
	if (!replaying->reader.has_end && replaying->damaged == 0)
		output_say("%s has no end, after %" PRIu64
			   " records: it is still being written, or qactl record was killed",
			   replaying->name, replaying->reader.records);
	if (replaying->damaged > 0 || !replaying->reader.has_end)
		return EX_DATAERR;
	if (replaying->shown > 0 || !replaying->replay->target)
		return 0;
	text_escape(target, sizeof(target), replaying->replay->target);
	output_say("%s has no target %s", replaying->name, target);
	return EX_NOUSER;
}

static int go_through(struct replaying *replaying)
{
	for (;;) {
		struct round round = {0};
		enum record_result result = record_reader_next(&replaying->reader, &round);
		int status = result == RECORD_ROUND ? take_round(replaying, &round) : 0;

		round_finish(&round);
		if (status != 0)
			return status;
		if (result == RECORD_FAILED)
			return replaying->reader.status;
		if (result == RECORD_END)
			return finish(replaying);
		if (result == RECORD_DAMAGED)
			tell_damage(replaying);
	}
}

int replay_run(const struct replay *replay)
{
	struct replaying replaying = {.replay = replay};
	FILE *in = record_reader_open(replay->path);
	int status;

	if (!in)
		return EX_NOINPUT;
	text_escape(replaying.name, sizeof(replaying.name), replay->path);
	status = record_reader_init(&replaying.reader, in, replay->path);
	if (status == 0)
		status = go_through(&replaying);
	record_reader_finish(&replaying.reader);
	return status;
}
