/*
 * plot_print.h - a plot as lines of characters.
 */
#ifndef QACTL_PLOT_PRINT_H
#define QACTL_PLOT_PRINT_H

#include <stdio.h>

#include "plot_data.h"
#include "terminal.h"

enum { PLOT_COLUMNS_LEAST = 40, PLOT_LINES_LEAST = 10 };

/*
 * Exactly terminal->lines lines of at most terminal->columns columns, of which neither may be less than the above. The
 * data has at least one point. line_end goes before each newline ("" or what clears the rest of a line).
 */
void plot_print(FILE *out, const struct plot_data *data, const struct terminal *terminal, const char *line_end);

#endif
