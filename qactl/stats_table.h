/*
 * stats_table.h - the figures of one target as text.
 */
#ifndef QACTL_STATS_TABLE_H
#define QACTL_STATS_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "figures.h"
#include "table.h"
#include "target.h"

struct stats_row {
	bool is_total;
	bool is_partial; /* the total of rows of which some are not known */
	struct qp_class figures;
};

struct stats {
	struct target target;
	struct stats_row *rows; /* room for row_count + 1 */
	size_t row_count;
};

/* The columns of a class, of rows that are struct stats_row; the last is the pool's name. */
enum { STATS_COLUMNS = 8 };
extern const struct table_column stats_columns[STATS_COLUMNS];

/* A paragraph of totals, then the classes and a row of totals, for which this uses the spare row. */
void stats_print(FILE *out, struct stats *stats);

#endif
