/*
 * trim_table.h - what trims returned, as text and as JSON.
 */
#ifndef QACTL_TRIM_TABLE_H
#define QACTL_TRIM_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "figures.h"
#include "read.h"

struct trim {
	bool is_done; /* what follows is known */
	bool is_total;
	uint64_t pid;
	char command[QP_NAME_BYTES + 1];
	char name[QP_NAME_BYTES + 1];
	uint64_t rss_before_bytes, rss_after_bytes;
	struct qp_trim figures;
};

/* Reads a result of trim; the reader's error tells what was wrong. */
void trim_read(struct qp_reader *reader, struct trim *trim);

/* One trim as a paragraph. */
void trim_print(FILE *out, const struct trim *trim);

/* Several as a table, with a row of totals for which trims[count] is used. */
void trim_print_table(FILE *out, struct trim *trims, size_t count);

json_t *trim_to_json(const struct trim *trim);

#endif
