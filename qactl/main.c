/*
 * The command line: global options, a command of the table, its options and its operand. Everything else is the
 * command's.
 */
#include <getopt.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "command.h"
#include "options.h"
#include "output.h"
#include "text.h"

static int fail_usage(const char *what, const char *word, const struct command *command)
{
	char text[512];

	text_escape(text, sizeof(text), word);
	output_say("%s%s", what, text);
	fprintf(stderr, "Try 'qactl %s%s--help'.\n", command ? command->name : "", command ? " " : "");
	return EX_USAGE;
}

/* qactl help [COMMAND] */
static int show_help(int count, char **words)
{
	const struct command *command = count > 0 ? command_find(words[0]) : NULL;

	if (count > 1)
		return fail_usage("help is for one command at a time, not also for ", words[1], NULL);
	if (count == 1 && strcmp(words[0], "help") != 0 && !command)
		return fail_usage("no such command: ", words[0], NULL);
	if (command)
		options_print_command_help(stdout, command);
	else
		options_print_help(stdout);
	return 0;
}

static int show_version(void)
{
	puts("qactl " QA_VERSION_TEXT);
	return 0;
}

/* The words that are no options; argv ends with NULL. */
static int take_operands(const struct command *command, int count, char **words, struct request *request)
{
	unsigned most = command_takes_target(command) ? 1 + command->rest_words : 0;

	if (command->takes_command_line) {
		request->words = words;
		return count > 0 ? 0 : fail_usage(command->missing, "", command);
	}
	if ((unsigned)count > most)
		return fail_usage("too many words, from here: ", words[most], command);
	if (count == 0)
		return command_takes_target(command) && !command->is_target_optional &&
				       !(request->given & command->target_optional_with)
			       ? fail_usage(command->missing ? command->missing
							     : "name a target: a pid, a command name or a QA_NAME",
					    "", command)
			       : 0;
	request->target = words[0];
	request->words = words + 1;
	request->word_count = (size_t)count - 1;
	return *request->target ? 0 : fail_usage("must not be empty: ", command->operand, command);
}

static int run_command(const struct command *command, int argc, char **argv, struct request *request)
{
	int status = options_read(argc, argv, command->takes_command_line, command, request);

	if (status != 0)
		return status;
	if (request->given & OPTION_HELP) {
		options_print_command_help(stdout, command);
		return 0;
	}
	if (request->given & OPTION_VERSION)
		return show_version();
	status = take_operands(command, argc - optind, argv + optind, request);
	return status ? status : command->run(request);
}

static int run(int argc, char **argv)
{
	struct request request = {0};
	const struct command *command;
	int status = options_read(argc, argv, true, NULL, &request);

	if (status != 0)
		return status;
	if (request.given & OPTION_HELP)
		return show_help(0, NULL);
	if (request.given & OPTION_VERSION)
		return show_version();
	if (optind == argc) {
		options_print_help(stderr);
		return EX_USAGE;
	}
	if (strcmp(argv[optind], "help") == 0)
		return show_help(argc - optind - 1, argv + optind + 1);
	command = command_find(argv[optind]);
	if (!command)
		return fail_usage("no such command: ", argv[optind], NULL);
	return run_command(command, argc - optind, argv + optind, &request);
}

int main(int argc, char **argv)
{
	output_prepare();
	/* Only for which characters can be printed; numbers keep their point. */
	setlocale(LC_CTYPE, "");
	return output_finish(run(argc, argv));
}
