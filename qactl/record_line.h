/*
 * record_line.h - the lines of a recording: JSON objects.
 *
 *     {"format":"qactl-record","version":1,"qactl":...,"host":...,"created_ms":...,"interval_ms":...,"classes":...}
 *     {"time_ms":...,"targets":[{keys of 'qactl ps --json', and "classes" if asked for}, ...]}
 *     ...
 *     {"end_ms":...,"records":N}
 *
 * Later releases may add keys, and lines without "targets", and keep version 1; what makes the above untrue is
 * version 2.
 */
#ifndef QACTL_RECORD_LINE_H
#define QACTL_RECORD_LINE_H

#include <jansson.h>
#include <stdbool.h>

#include "round.h"

#define RECORD_FORMAT "qactl-record"
enum { RECORD_VERSION = 1 };

/* NULL only when out of memory, as in jansson. */
json_t *record_line_header(uint64_t interval_ms, bool classes);
json_t *record_line_round(const struct round *round, bool classes);
json_t *record_line_end(uint64_t records);

/* Fills an empty round, which the caller finishes even after an error. NULL, or what is wrong with the line. */
const char *record_line_to_round(const json_t *line, struct round *round);

#endif
