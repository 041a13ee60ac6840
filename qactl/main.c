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

static const struct command *const commands[] = {&command_ps,    &command_run,    &command_stats,  &command_trim,
						 &command_watch, &command_doctor, &command_health, NULL};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

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
	const struct command *command = count > 0 ? find_command(words[0]) : NULL;

	if (count > 1)
		return fail_usage("help is for one command at a time, not also for ", words[1], NULL);
	if (count == 1 && strcmp(words[0], "help") != 0 && !command)
		return fail_usage("no such command: ", words[0], NULL);
	if (command)
		options_print_command_help(stdout, command);
	else
		options_print_help(stdout, commands);
	return 0;
}

static int show_version(void)
{
	puts("qactl " QA_VERSION_TEXT);
	return 0;
}

static int run_command(const struct command *command, int argc, char **argv, struct request *request)
{
	int status = options_read(argc, argv, command->takes_command_line, command, request);
	int count = argc - optind;

	if (status != 0)
		return status;
	if (request->given & OPTION_HELP) {
		options_print_command_help(stdout, command);
		return 0;
	}
	if (request->given & OPTION_VERSION)
		return show_version();
	if (command->takes_command_line) {
		request->words = argv + optind;
		return count > 0 ? command->run(request) : fail_usage("name the program to run", "", command);
	}
	if (count > command_takes_target(command))
		return fail_usage("too many words, from here: ", argv[optind + command_takes_target(command)], command);
	if (count == 1)
		request->target = argv[optind];
	else if (command_takes_target(command) && !command->is_target_optional &&
		 !(request->given & command->target_optional_with))
		return fail_usage("name a target: a pid, a command name or a QA_NAME", "", command);
	if (request->target && !*request->target)
		return fail_usage("the name of a target must not be empty", "", command);
	return command->run(request);
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
		options_print_help(stderr, commands);
		return EX_USAGE;
	}
	if (strcmp(argv[optind], "help") == 0)
		return show_help(argc - optind - 1, argv + optind + 1);
	command = find_command(argv[optind]);
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
