/*
 * record_reader.h - a recording, line by line, of which any line may be damaged.
 */
#ifndef QACTL_RECORD_READER_H
#define QACTL_RECORD_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "round.h"

/* More than qad's largest frame is as JSON. */
#define RECORD_LINE_BYTES (64u << 20)

struct record_reader {
	FILE *in;
	char *line;
	size_t line_bytes, room_bytes;
	uint64_t line_number, line_offset, next_offset; /* in the file, of the line that was read last */
	bool has_classes, has_end;
	uint64_t records;
	const char *problem; /* of the last line, with RECORD_DAMAGED */
	int status;          /* with RECORD_FAILED: the exit status, 66 or 71 */
};

enum record_result {
	RECORD_ROUND,   /* a round was read */
	RECORD_END,     /* of the file */
	RECORD_DAMAGED, /* this line is; what follows may be whole */
	RECORD_FAILED,  /* reader->status is to be returned; why was said */
};

/* Takes over a stream. Reads the header: 0, or 65, 66 or 71 after having said why; name is what to call it. */
int record_reader_init(struct record_reader *reader, FILE *in, const char *name);
void record_reader_finish(struct record_reader *reader);

/* The next round, into an empty one, which the caller finishes whatever the result. */
enum record_result record_reader_next(struct record_reader *reader, struct round *round);

/* "-": stdin. NULL after having said why. */
FILE *record_reader_open(const char *path);

#endif
