/*
 * stream_parts.h - one target as a line of 80 columns: all parts of what it holds, and what it did since the line
 * before.
 */
#ifndef QACTL_STREAM_PARTS_H
#define QACTL_STREAM_PARTS_H

#include "stream.h"

void stream_parts_print_titles(void);
void stream_parts_print(struct stream *stream, const struct target *target, uint64_t time_ms);

#endif
