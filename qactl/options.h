/*
 * options.h - reads the command line and prints the help; both from one table of options.
 */
#ifndef QACTL_OPTIONS_H
#define QACTL_OPTIONS_H

#include <stdio.h>

#include "command.h"

struct option_row {
	unsigned bit;
	char letter; /* 0: none */
	const char *name;
	const char *argument; /* NULL: none */
	const char *help;
};

/* The table of options; bit 0 ends it. */
extern const struct option_row options_table[];

/*
 * Reads options, to the first operand (stop) or among operands, into the request; afterwards argv[optind] is the first
 * operand. command is for messages, NULL before it is known. Returns 0, or 64 after having said what is wrong.
 */
int options_read(int argc, char **argv, bool stop, const struct command *command, struct request *request);

/* The help of all, and of one command. */
void options_print_help(FILE *out);
void options_print_command_help(FILE *out, const struct command *command);

#endif
