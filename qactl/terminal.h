/*
 * terminal.h - what stdout is: how large, whether it takes colours, which characters it can show.
 */
#ifndef QACTL_TERMINAL_H
#define QACTL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct terminal {
	bool is_terminal; /* and no file or pipe */
	bool has_colours; /* a terminal, unless NO_COLOR is set or TERM is dumb */
	bool is_utf8;     /* by the locale */
	size_t columns, lines;
};

/* Looks anew: a terminal may have changed its size. 80 x 24 when it has none. */
void terminal_look(struct terminal *terminal);

#endif
