/*
 * figures.h - the figures that travel: totals, class rows and the outcome of a trim, with their encoding.
 *
 * One table of keys per struct (in figures.c) serves the encoder and the decoder, so that they can not differ.
 * Words and keys are those of docs/PROTOCOL.md; all values are counts or bytes.
 */
#ifndef QP_FIGURES_H
#define QP_FIGURES_H

#include <stdint.h>

#include "protocol.h"
#include "read.h"
#include "write.h"

struct qp_totals {
	uint64_t page_size, threads;
	uint64_t held_bytes, used_bytes, cached_bytes;
	uint64_t thread_bytes, partial_bytes, empty_bytes, slack_bytes;
	uint64_t unreachable_bytes;
	uint64_t allocs, frees;
};

struct qp_class {
	uint64_t block_size;          /* 0: above the largest class */
	char name[QP_NAME_BYTES + 1]; /* of a named pool, else "" */
	uint64_t pages;
	uint64_t held_bytes, used_bytes, cached_bytes;
	uint64_t thread_bytes, partial_bytes, empty_bytes, slack_bytes;
	uint64_t used_blocks, allocs, frees;
};

struct qp_trim {
	uint64_t returned_bytes;
	uint64_t held_before_bytes, held_after_bytes;
	uint64_t cached_before_bytes, cached_after_bytes;
	uint64_t duration_us, threads_skipped;
};

/* How full the pages of a class are: pages with a block out, by tenths of fullness. */
enum { QP_TENTHS = 10 };

struct qp_class_map {
	uint64_t block_size;
	char name[QP_NAME_BYTES + 1]; /* of a named pool, else "" */
	uint64_t pages, empty_pages;
	uint64_t tenth_pages[QP_TENTHS], tenth_out_bytes[QP_TENTHS], tenth_free_bytes[QP_TENTHS];
};

/* How many pairs each adds to the caller's map; the caller has begun that map. */
enum { QP_TOTALS_PAIRS = 12, QP_CLASS_PAIRS = 13, QP_TRIM_PAIRS = 7, QP_CLASS_MAP_PAIRS = 7 };

void qp_write_totals(struct qp_buffer *out, const struct qp_totals *totals);
void qp_write_class(struct qp_buffer *out, const struct qp_class *row); /* a whole map */
void qp_write_trim(struct qp_buffer *out, const struct qp_trim *trim);

void qp_write_class_map(struct qp_buffer *out, const struct qp_class_map *map); /* a whole map */

void qp_read_totals(struct qp_reader *reader, struct qp_totals *totals);
void qp_read_class(struct qp_reader *reader, struct qp_class *row);
void qp_read_trim(struct qp_reader *reader, struct qp_trim *trim);
void qp_read_class_map(struct qp_reader *reader, struct qp_class_map *map);

#endif
