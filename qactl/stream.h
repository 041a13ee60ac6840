/*
 * stream.h - rounds of figures as lines on stdout: what watch, stats with an interval, and replay print.
 */
#ifndef QACTL_STREAM_H
#define QACTL_STREAM_H

#include <stdbool.h>

#include "command.h"
#include "round.h"

struct stream {
	enum { STREAM_TABLE, STREAM_PARTS, STREAM_JSON, STREAM_CSV } form;
	bool has_classes; /* JSON: rows of classes too */
	uint64_t lines;   /* printed so far, without titles */
	/* STREAM_PARTS: of the line before, for what happened since. */
	bool has_last;
	uint64_t last_ms, last_allocs, last_frees;
};

/* By --json, --csv and --classes; otherwise table. */
void stream_init(struct stream *stream, const struct request *request, bool is_parts);

/* A line for each target, flushed. An exit status. */
int stream_print(struct stream *stream, const struct round *round);

#endif
