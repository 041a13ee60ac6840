/*
 * stats_read.h - decodes the answer to stats.
 */
#ifndef QACTL_STATS_READ_H
#define QACTL_STATS_READ_H

#include "read.h"
#include "stats_table.h"

/* Reads a result of stats into a zeroed struct; the caller finishes it even after an error. Returns an exit status. */
int stats_read(const msgpack_object *object, struct stats *stats);
/* The rows alone. */
int stats_read_rows(const msgpack_object *rows, size_t count, struct stats *stats);

/*
 * The same without a word on stderr: 0, -ENOMEM, or -EBADMSG and the key in error. It is an error when there are no
 * figures.
 */
int stats_decode(const msgpack_object *object, struct stats *stats, const char **bad);

void stats_finish(struct stats *stats);

#endif
