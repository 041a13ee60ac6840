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

/* Numbers first, then the rows of tenths; and "name". */
static const struct figure map_figures[] = {
	FIGURE(qp_class_map, block_size),
	FIGURE(qp_class_map, pages),
	FIGURE(qp_class_map, empty_pages),
};
static const struct figure tenth_figures[] = {
	FIGURE(qp_class_map, tenth_pages),
	FIGURE(qp_class_map, tenth_out_bytes),
	FIGURE(qp_class_map, tenth_free_bytes),
};
_Static_assert(COUNT(map_figures) + COUNT(tenth_figures) + 1 == QP_CLASS_MAP_PAIRS,
	       "figures.h counts the pairs of a map");

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

void qp_write_class_map(struct qp_buffer *out, const struct qp_class_map *map)
{
	qp_write_map(out, QP_CLASS_MAP_PAIRS);
	qp_write_key_string(out, "name", map->name);
	write_figures(out, map_figures, COUNT(map_figures), map);
	for (size_t i = 0; i < COUNT(tenth_figures); i++) {
		const uint64_t *tenths = (const uint64_t *)((const char *)map + tenth_figures[i].offset);

		qp_write_string(out, tenth_figures[i].key);
		qp_write_array(out, QP_TENTHS);
		for (size_t tenth = 0; tenth < QP_TENTHS; tenth++)
			qp_write_u64(out, tenths[tenth]);
	}
}

/* An array of just so many numbers. */
static void read_tenths(struct qp_reader *reader, const char *key, uint64_t *tenths)
{
	size_t count;
	const msgpack_object *elements = qp_read_array(reader, key, &count);

	for (size_t i = 0; i < QP_TENTHS && reader->bad == NULL; i++) {
		if (count != QP_TENTHS || elements[i].type != MSGPACK_OBJECT_POSITIVE_INTEGER)
			reader->bad = key;
		else
			tenths[i] = elements[i].via.u64;
	}
}

void qp_read_class_map(struct qp_reader *reader, struct qp_class_map *map)
{
	*map = (struct qp_class_map){0};
	qp_read_string_or(reader, "name", map->name, sizeof(map->name), "");
	read_figures(reader, map_figures, COUNT(map_figures), map);
	for (size_t i = 0; i < COUNT(tenth_figures); i++)
		read_tenths(reader, tenth_figures[i].key, (uint64_t *)((char *)map + tenth_figures[i].offset));
}
