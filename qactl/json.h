/*
 * json.h - the output of --json: one value on stdout, the keys of docs/PROTOCOL.md, integers in bytes.
 */
#ifndef QACTL_JSON_H
#define QACTL_JSON_H

#include <jansson.h>

#include "figures.h"
#include "target.h"

/* The key of a figure, and where it is in its struct. */
struct json_figure {
	const char *key;
	size_t offset;
};

/* Those of struct qp_totals, and those of struct qp_class but block_size and name. */
enum { JSON_TOTALS = QP_TOTALS_PAIRS, JSON_CLASS = QP_CLASS_PAIRS - 2 };
extern const struct json_figure json_totals[JSON_TOTALS];
extern const struct json_figure json_class[JSON_CLASS];

uint64_t json_figure_of(const struct json_figure *figure, const void *values);

/* All keys of a target and of totals; those that are not known are null. */
json_t *json_from_target(const struct target *target);
json_t *json_from_class(const struct qp_class *row);

/* A string as JSON; what is not UTF-8 in it becomes U+FFFD. */
json_t *json_from_text(const char *text);

/* A count; JSON here has integers up to 2^63 - 1, more becomes that. */
json_t *json_from_u64(uint64_t value);

/* Prints a value, which this takes over, and a newline. 0, or 71: no memory to make it (value may be NULL). */
int json_print(json_t *value);
/* The same on one line. */
int json_print_line(json_t *value);

#endif
