/*
 * line.h - one line of libqa on stderr, put together in a small array on the stack and written by one call, since the
 * heap may be broken and stdio may allocate. What does not fit is left out. Any thread, the agent's too.
 */
#ifndef LIBQA_LINE_H
#define LIBQA_LINE_H

#include <stddef.h>
#include <stdint.h>

struct line {
	char text[400];
	size_t length;
};

/* "libqa: " */
void line_begin(struct line *line);
void line_add(struct line *line, const char *text);
void line_add_number(struct line *line, uint64_t number, unsigned base);
void line_write(struct line *line);

#endif
