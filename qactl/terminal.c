/*
 * NO_COLOR counts when it is not empty (https://no-color.org). Characters are those of the locale, as everywhere in
 * qactl.
 */
#include "terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void terminal_look(struct terminal *terminal)
{
	struct winsize size = {0};
	const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");
	bool has_size;

	terminal->is_terminal = isatty(STDOUT_FILENO);
	has_size = terminal->is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
	terminal->columns = has_size && size.ws_col ? size.ws_col : 80;
	terminal->lines = has_size && size.ws_row ? size.ws_row : 24;
	terminal->has_colours =
		terminal->is_terminal && !(no_color && *no_color) && kind && *kind && strcmp(kind, "dumb") != 0;
	terminal->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
