/*
 * columns.h - the two tables of top: processes (rows are struct process) and classes (rows are struct stats_row).
 */
#ifndef QACTL_COLUMNS_H
#define QACTL_COLUMNS_H

#include "top/view.h"

/* Views without rows yet; sorted by what is cached. */
void columns_view_processes(struct view *view);
void columns_view_classes(struct view *view);

/* The columns of processes that are text, for a plain table; returns their number. */
size_t columns_of_table(struct table_column columns[TABLE_COLUMNS]);

/* "1.5M" a second. */
void columns_format_rate(double rate, char *text, size_t text_bytes);

/* "+1.5M", "-121M", "0". */
void columns_format_growth(double bytes_s, char *text, size_t text_bytes);

#endif
