/*
 * complete: what may come next on a command line, for the completions of shells. All of them ask this, so that what
 * they offer is what the tables of commands and options say, and the targets are those of now. Nobody is waiting for
 * words about what went wrong: then there is nothing to offer.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "complete_targets.h"
#include "options.h"
#include "top/columns.h"
#include "with_qad.h"

/* Somebody has pressed a key and waits. */
enum { MOST_S = 2 };

struct line {
	const struct command *command; /* NULL: not yet named, or there is none of that name */
	bool is_named, is_help;
	size_t operands;               /* words that are no options, before the one that is to be completed */
	bool has_ended_options;        /* by -- */
	const struct option_row *open; /* an option whose value is to be completed */
	const char *socket;
};

static const struct option_row *find_option(const char *word)
{
	for (const struct option_row *row = options_table; row->bit; row++) {
		if (word[1] == '-' ? strcmp(row->name, word + 2) == 0
				   : row->letter && row->letter == word[1] && !word[2])
			return row;
	}
	return NULL;
}

/* Takes a word that stands before the one that is to be completed. */
static void take_word(struct line *line, const char *word)
{
	bool is_value = line->open != NULL;

	if (is_value) {
		if (line->open->bit == OPTION_SOCKET)
			line->socket = word;
		line->open = NULL;
	} else if (word[0] == '-' && word[1] && !line->has_ended_options) {
		line->has_ended_options = strcmp(word, "--") == 0;
		line->open = find_option(word);
		if (line->open && !line->open->argument)
			line->open = NULL;
	} else if (!line->is_named) {
		line->is_named = true;
		line->command = command_find(word);
		line->is_help = strcmp(word, "help") == 0;
	} else {
		/* From the other program's name on, options are its own. */
		line->operands++;
		line->has_ended_options =
			line->has_ended_options || (line->command && line->command->takes_command_line);
	}
}

static void offer_commands(void)
{
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->is_internal)
			printf("%s\t%s\n", commands[i]->name, commands[i]->summary);
	puts("help\tshow the help of a command");
}

static void offer_options(const struct command *command)
{
	unsigned options = command ? command->options | (OPTIONS_GLOBAL & ~OPTION_VERSION) : OPTIONS_GLOBAL;

	for (const struct option_row *row = options_table; row->bit; row++)
		if (row->bit & options)
			printf("--%s\t%s\n", row->name, row->help);
}

/* A candidate that is empty says what else may stand there. */
static void offer_file(void)
{
	puts("\tfile");
}

static void offer_columns(void)
{
	struct view view;

	columns_view_processes(&view);
	for (size_t i = 0; i < view.set.count; i++)
		if (view.set.columns[i].name)
			printf("%s\tsort by %s\n", view.set.columns[i].name, view.set.columns[i].title);
}

static void offer_value(const struct option_row *option)
{
	if (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0)
		offer_file();
	else if (option->bit == OPTION_SORT)
		offer_columns();
}

static int offer_targets(struct client *client, const struct request *request, const struct resolve_result *none)
{
	struct target_list list;
	int status = target_list_fetch(client, false, &list);

	(void)none; /* all are looked at */
	if (status == 0) {
		complete_targets(&list, request->target);
		target_list_finish(&list);
	}
	return status;
}

static void offer_operand(const struct line *line, const char *word)
{
	const struct command *command = line->command;
	struct request request = {.socket = line->socket, .target = word};

	if (line->is_help && line->operands == 0)
		offer_commands();
	if (!command)
		return;
	if (command->takes_command_line)
		puts(line->operands == 0 ? "\tprogram" : "\tfile");
	else if (strcmp(command->operand, "FILE") == 0 && line->operands == 0)
		offer_file();
	else if (command->operand[0] && (line->operands == 0 || command_takes_more_targets(command)))
		with_qad(&request, NULL, offer_targets);
}

static void give_up(int number)
{
	(void)number;
	_exit(0);
}

static int run(const struct request *request)
{
	struct line line = {.command = NULL};
	size_t last = 0;

	signal(SIGALRM, give_up);
	alarm(MOST_S);
	if (!freopen("/dev/null", "w", stderr))
		return 0;
	while (request->words[last + 1])
		take_word(&line, request->words[last++]);
	if (line.open)
		offer_value(line.open);
	else if (request->words[last][0] == '-' && !line.has_ended_options)
		offer_options(line.command);
	else if (!line.is_named)
		offer_commands();
	else
		offer_operand(&line, request->words[last]);
	return 0;
}

const struct command command_complete = {
	.name = "complete",
	.operand = "WORD",
	.rest = "...",
	.is_internal = true,
	.takes_command_line = true,
	.missing = "name the words of the command line, the last of which is to be completed",
	.summary = "say what may come next on a command line",
	.description = "For the completions of shells: after -- come the words that follow 'qactl', the last\n"
		       "as far as it is typed. Prints candidates, a tab and what each means; an empty one\n"
		       "says that a file or a program may stand there. No target is woken for it.\n",
	.run = run,
};
