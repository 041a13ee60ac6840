/*
 * For each struct one table of keys and offsets; encoder and decoder both walk it. Adding a figure is adding a row
 * here, a member and the count of pairs in the header; a static assertion compares the two.
 */
#include "figures.h"

#include <stddef.h>

struct figure {
	const char *key;
	size_t offset;
};

#define FIGURE(type, member)                           \
	{                                              \
#member, offsetof(struct type, member) \
	}
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct figure totals_figures[] = {
	FIGURE(qp_totals, page_size),         FIGURE(qp_totals, threads),      FIGURE(qp_totals, held_bytes),
	FIGURE(qp_totals, used_bytes),        FIGURE(qp_totals, cached_bytes), FIGURE(qp_totals, thread_bytes),
	FIGURE(qp_totals, partial_bytes),     FIGURE(qp_totals, empty_bytes),  FIGURE(qp_totals, slack_bytes),
	FIGURE(qp_totals, unreachable_bytes), FIGURE(qp_totals, allocs),       FIGURE(qp_totals, frees),
};
_Static_assert(COUNT(totals_figures) == QP_TOTALS_PAIRS, "figures.h counts the pairs of totals");
_Static_assert(sizeof(struct qp_totals) == QP_TOTALS_PAIRS * sizeof(uint64_t), "each member of totals has a key");

/* And "name", the only one that is not a number. */
static const struct figure class_figures[] = {
	FIGURE(qp_class, block_size),    FIGURE(qp_class, pages),        FIGURE(qp_class, held_bytes),
	FIGURE(qp_class, used_bytes),    FIGURE(qp_class, cached_bytes), FIGURE(qp_class, thread_bytes),
	FIGURE(qp_class, partial_bytes), FIGURE(qp_class, empty_bytes),  FIGURE(qp_class, slack_bytes),
	FIGURE(qp_class, used_blocks),   FIGURE(qp_class, allocs),       FIGURE(qp_class, frees),
};
_Static_assert(COUNT(class_figures) + 1 == QP_CLASS_PAIRS, "figures.h counts the pairs of a class");

static const struct figure trim_figures[] = {
	FIGURE(qp_trim, returned_bytes),      FIGURE(qp_trim, held_before_bytes),  FIGURE(qp_trim, held_after_bytes),
	FIGURE(qp_trim, cached_before_bytes), FIGURE(qp_trim, cached_after_bytes), FIGURE(qp_trim, duration_us),
	FIGURE(qp_trim, threads_skipped),
};
_Static_assert(COUNT(trim_figures) == QP_TRIM_PAIRS, "figures.h counts the pairs of a trim");
_Static_assert(sizeof(struct qp_trim) == QP_TRIM_PAIRS * sizeof(uint64_t), "each member of a trim has a key");

static void write_figures(struct qp_buffer *out, const struct figure *figures, size_t count, const void *values)
{
	for (size_t i = 0; i < count; i++)
		qp_write_key_u64(out, figures[i].key, *(const uint64_t *)((const char *)values + figures[i].offset));
}

static void read_figures(struct qp_reader *reader, const struct figure *figures, size_t count, void *values)
{
	for (size_t i = 0; i < count; i++)
		*(uint64_t *)((char *)values + figures[i].offset) = qp_read_u64(reader, figures[i].key);
}

void qp_write_totals(struct qp_buffer *out, const struct qp_totals *totals)
{
	write_figures(out, totals_figures, COUNT(totals_figures), totals);
}

void qp_write_class(struct qp_buffer *out, const struct qp_class *row)
{
	qp_write_map(out, QP_CLASS_PAIRS);
	qp_write_key_string(out, "name", row->name);
	write_figures(out, class_figures, COUNT(class_figures), row);
}

void qp_write_trim(struct qp_buffer *out, const struct qp_trim *trim)
{
	write_figures(out, trim_figures, COUNT(trim_figures), trim);
}

void qp_read_totals(struct qp_reader *reader, struct qp_totals *totals)
{
	read_figures(reader, totals_figures, COUNT(totals_figures), totals);
}

void qp_read_class(struct qp_reader *reader, struct qp_class *row)
{
	qp_read_string_or(reader, "name", row->name, sizeof(row->name), "");
	read_figures(reader, class_figures, COUNT(class_figures), row);
}

void qp_read_trim(struct qp_reader *reader, struct qp_trim *trim)
{
	read_figures(reader, trim_figures, COUNT(trim_figures), trim);
}
