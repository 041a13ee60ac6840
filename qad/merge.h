/*
 * merge.h - rows of figures that have the same key.
 *
 * Everybody takes block size and name for the key of a row: a metric must not be there twice, and a table with a class
 * twice is read wrong. A target that lies may repeat one. So may an honest one: of a pool that is destroyed and made
 * again while its figures are gathered, or of two whose names differ only in bytes that are not UTF-8.
 */
#ifndef QAD_MERGE_H
#define QAD_MERGE_H

#include <stddef.h>

/*
 * Of struct qp_class or struct qp_class_map, whose names are UTF-8: adds rows of the same key to the first of them, and
 * takes them out. 0, or -ENOMEM and nothing is changed.
 */
int merge_rows(void *rows, size_t *row_count, size_t row_bytes);

#endif
