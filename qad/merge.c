/*
 * Sorted by key, rows of the same one are neighbours; the rows themselves stay in their order.
 */
#include "merge.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

/* What each row begins with; all that follows are numbers. */
struct row_head {
	uint64_t block_size;
	char name[QP_NAME_BYTES + 1];
};

_Static_assert(sizeof(struct row_head) == offsetof(struct qp_class, pages), "numbers follow the head of a class");
_Static_assert(sizeof(struct row_head) == offsetof(struct qp_class_map, pages), "numbers follow the head of a map");

static bool is_same_row(const struct row_head *left, const struct row_head *right)
{
	return left->block_size == right->block_size && strcmp(left->name, right->name) == 0;
}

/* By key; of the same key the first one first. */
static int compare_rows(const void *a, const void *b)
{
	const struct row_head *left = *(const struct row_head *const *)a, *right = *(const struct row_head *const *)b;

	if (left->block_size != right->block_size)
		return left->block_size < right->block_size ? -1 : 1;
	int order = strcmp(left->name, right->name);
	return order != 0 ? order : (left > right) - (left < right);
}

static void add_numbers(struct row_head *to, const struct row_head *from, size_t row_bytes)
{
	uint64_t *sums = (uint64_t *)(void *)(to + 1);
	const uint64_t *numbers = (const uint64_t *)(const void *)(from + 1);

	for (size_t i = 0; i < (row_bytes - sizeof(*to)) / sizeof(*sums); i++)
		sums[i] += numbers[i];
}

int merge_rows(void *rows, size_t *row_count, size_t row_bytes)
{
	static const char merged[] = "\xff"; /* a name that none has, for it is not UTF-8 */
	char *bytes = rows;
	size_t count = *row_count, kept = 0, first = 0;
	struct row_head **sorted = malloc((count > 0 ? count : 1) * sizeof(struct row_head *));

	if (sorted == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct row_head *)(void *)(bytes + i * row_bytes);
	qsort(sorted, count, sizeof(struct row_head *), compare_rows);
	for (size_t i = 1; i < count; i++) {
		if (!is_same_row(sorted[first], sorted[i])) {
			first = i;
			continue;
		}
		add_numbers(sorted[first], sorted[i], row_bytes);
		strcpy(sorted[i]->name, merged);
	}
	free(sorted);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(((struct row_head *)(void *)(bytes + i * row_bytes))->name, merged) == 0)
			continue;
		if (kept < i)
			memcpy(bytes + kept * row_bytes, bytes + i * row_bytes, row_bytes);
		kept++;
	}
	*row_count = kept;
	return 0;
}
