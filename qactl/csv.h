/*
 * csv.h - comma-separated values as RFC 4180 has them: a header, one record a line, lines end in CR LF.
 */
#ifndef QACTL_CSV_H
#define QACTL_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
	FILE *out;
	bool is_inside; /* a line has begun */
};

void csv_u64(struct csv *csv, uint64_t value);
/*
 * Printable UTF-8 as it is; control characters, what is invisible or turns the writing direction, what is not UTF-8 and
 * the backslash as qactl shows them on a terminal (\x1b, \\), so that a line of output is a line of the file. Quoted
 * where a comma or quote wants it.
 */
void csv_text(struct csv *csv, const char *text);
/* What is not known. */
void csv_empty(struct csv *csv);
void csv_end_line(struct csv *csv);

#endif
