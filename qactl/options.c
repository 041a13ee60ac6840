/*
 * One row for each option feeds getopt_long, the check whether a command takes it, and the help. All commands share one
 * table, so that an option means the same everywhere.
 */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "number.h"
#include "output.h"
#include "text.h"

const struct option_row options_table[] = {
	{OPTION_ALL, 0, "all", NULL, "trim every target that TARGET means; without TARGET, all"},
	{OPTION_ALL_CLASSES, 0, "all-classes", NULL, "show size classes without pages too"},
	{OPTION_CLASS, 0, "class", "BYTES", "only the size class of just that block size"},
	{OPTION_POOL, 0, "pool", "NAME", "only the named pool"},
	{OPTION_KEEP, 0, "keep", "BYTES", "leave so much of what is cached (with K, M or G)"},
	{OPTION_INTERVAL, 'i', "interval", "SECONDS", "how often; 0.1 or more, 1 by default"},
	{OPTION_COUNT, 'n', "count", "N", "end after so many times"},
	{OPTION_ONCE, 0, "once", NULL, "print one frame and end"},
	{OPTION_READONLY, 0, "readonly", NULL, "trim nothing"},
	{OPTION_SORT, 0, "sort", "COLUMN", "sort by it: cached, used, held, rss, growth, command ..."},
	{OPTION_FILTER, 0, "filter", "TEXT", "show only those with TEXT in pid, user, command or label"},
	{OPTION_DELAY, 'd', "delay", "SECONDS", "between two looks; 0.1 or more, 1 by default"},
	{OPTION_JSON, 0, "json", NULL, "print JSON: integers in bytes"},
	{OPTION_CSV, 0, "csv", NULL, "print comma-separated values: integers in bytes"},
	{OPTION_CLASSES, 0, "classes", NULL, "also the size classes that hold most, 64 at most; with TARGET"},
	{OPTION_OUTPUT, 'o', "output", "FILE", "where to write; - is standard output"},
	{OPTION_DURATION, 0, "duration", "SECONDS", "end after so long"},
	{OPTION_FORCE, 0, "force", NULL, "write over a file that exists"},
	{OPTION_SPEED, 0, "speed", "FACTOR", "as fast as it was, times FACTOR; at once by default"},
	{OPTION_FILE, 0, "file", "FILE", "draw what 'qactl record' wrote there; - is standard input"},
	{OPTION_SINCE, 0, "since", "SECONDS", "only the last so many seconds (or 5m, 2h)"},
	{OPTION_STEP, 0, "step", "SECONDS", "1: the last 15 minutes in full; 10: 6 hours, coarser"},
	{OPTION_FOLLOW, 'f', "follow", NULL, "go on, and draw anew as figures come"},
	{OPTION_WIDTH, 0, "width", "COLUMNS", "how wide; by default as the terminal, else 80"},
	{OPTION_HEIGHT, 0, "height", "LINES", "how high; by default as the terminal, else 24"},
	{OPTION_NAME, 0, "name", "NAME", "the program's label, as by QA_NAME"},
	{OPTION_NO_START, 0, "no-start", NULL, "fail with 69 if no qad is reachable, and start none"},
	{OPTION_STATS_AT_EXIT, 0, "stats-at-exit", NULL, "print what it held when it ended, on stderr"},
	{OPTION_SOCKET, 's', "socket", "PATH", "qad's socket"},
	{OPTION_HELP, 'h', "help", NULL, "show this help"},
	{OPTION_VERSION, 'V', "version", NULL, "show the version"},
	{0},
};
enum { ROWS = sizeof(options_table) / sizeof(*options_table) - 1 };

/* getopt_long returns this and the row's index. */
enum { LONG_OPTION = 256 };

static const struct option_row *row_of(int option)
{
	if (option >= LONG_OPTION)
		return &options_table[option - LONG_OPTION];
	for (size_t i = 0; i < ROWS; i++)
		if (options_table[i].letter == option)
			return &options_table[i];
	return NULL;
}

static void say_hint(const struct command *command)
{
	fprintf(stderr, "Try 'qactl %s%s--help'.\n", command ? command->name : "", command ? " " : "");
}

/* What getopt_long found no sense in; text is the word it looked at last. */
static int fail(const struct command *command, int option, const char *text)
{
	char shown[512], letter[3] = {'-', (char)optopt, '\0'};
	const struct option_row *row = optopt ? row_of(optopt) : NULL;

	/* optopt is a letter, or for a long option its value, or 0 when the name is not known. */
	text_escape(shown, sizeof(shown), optopt && !row ? letter : text);
	if (option == ':')
		output_say("--%s needs a %s", row ? row->name : shown, row ? row->argument : "value");
	else if (row)
		output_say("--%s takes no value", row->name);
	else
		output_say("unknown option %s", shown);
	say_hint(command);
	return EX_USAGE;
}

/* 0, or 64 after having said what is wrong. */
static int take_value(const struct option_row *row, const struct command *command, struct request *request)
{
	bool is_good = true;
	char shown[512];

	switch (row->bit) {
	case OPTION_SOCKET:
		request->socket = optarg;
		break;
	case OPTION_NAME:
		request->name = optarg;
		break;
	case OPTION_POOL:
		request->pool = optarg;
		break;
	case OPTION_SORT:
		request->sort = optarg;
		break;
	case OPTION_FILTER:
		request->filter = optarg;
		break;
	case OPTION_DELAY:
	case OPTION_INTERVAL:
		is_good = number_read_interval(optarg, &request->interval_ms);
		break;
	case OPTION_COUNT:
		is_good = number_read(optarg, &request->count) && request->count > 0;
		break;
	case OPTION_CLASS:
		is_good = number_read(optarg, &request->block_size) && request->block_size > 0;
		break;
	case OPTION_KEEP:
		is_good = number_read(optarg, &request->keep_bytes);
		break;
	case OPTION_OUTPUT:
		request->output = optarg;
		break;
	case OPTION_FILE:
		request->file = optarg;
		break;
	case OPTION_DURATION:
		is_good = number_read_time(optarg, &request->duration_ms);
		break;
	case OPTION_SPEED:
		is_good = number_read_factor(optarg, &request->speed);
		break;
	case OPTION_SINCE:
		is_good = number_read_seconds(optarg, &request->since_s);
		break;
	case OPTION_STEP:
		is_good = number_read(optarg, &request->step_s) && (request->step_s == 1 || request->step_s == 10);
		break;
	case OPTION_WIDTH:
		is_good = number_read_cells(optarg, &request->width);
		break;
	case OPTION_HEIGHT:
		is_good = number_read_cells(optarg, &request->height);
		break;
	}
	if (is_good)
		return 0;
	text_escape(shown, sizeof(shown), optarg);
	output_say("--%s %s: not a number that fits. --%s %s: %s", row->name, shown, row->name, row->argument,
		   row->help);
	say_hint(command);
	return EX_USAGE;
}

static int take(const struct option_row *row, const struct command *command, struct request *request)
{
	unsigned allowed = OPTIONS_GLOBAL | (command ? command->options : 0);

	if (!(row->bit & allowed)) {
		if (command)
			output_say("%s does not take --%s", command->name, row->name);
		else
			output_say("--%s comes after the command", row->name);
		say_hint(command);
		return EX_USAGE;
	}
	request->given |= row->bit;
	return take_value(row, command, request);
}

int options_read(int argc, char **argv, bool stop, const struct command *command, struct request *request)
{
	struct option long_options[ROWS + 1] = {{0}};
	int option, status = 0;

	for (int i = 0; i < ROWS; i++) {
		long_options[i].name = options_table[i].name;
		long_options[i].has_arg = options_table[i].argument ? required_argument : no_argument;
		long_options[i].val = LONG_OPTION + i;
	}
	opterr = 0;
	optind = 0; /* starts anew, also with the order of operands */
	while (status == 0) {
		option = getopt_long(argc, argv, stop ? "+:s:hV" : ":s:hVi:n:o:fd:", long_options, NULL);
		if (option == -1)
			break;
		if (option == '?' || option == ':')
			status = fail(command, option, argv[optind - 1]);
		else
			status = take(row_of(option), command, request);
	}
	if (status == 0 && (request->given & OPTION_CSV) && (request->given & OPTION_JSON)) {
		output_say("--csv and --json: one of them");
		status = EX_USAGE;
	}
	return status;
}

static void print_options(FILE *out, unsigned options)
{
	for (size_t i = 0; i < ROWS; i++) {
		char text[40], letter[8] = "";

		if (!(options_table[i].bit & options))
			continue;
		if (options_table[i].letter)
			snprintf(letter, sizeof(letter), "-%c, ", options_table[i].letter);
		snprintf(text, sizeof(text), "%4s--%s%s%s", letter, options_table[i].name,
			 options_table[i].argument ? " " : "",
			 options_table[i].argument ? options_table[i].argument : "");
		fprintf(out, "  %-22s  %s\n", text, options_table[i].help);
	}
}

static bool is_optional(const struct command *command)
{
	return command->target_optional_with != 0 || command->is_target_optional;
}

void options_print_help(FILE *out)
{
	fputs("Usage: qactl [OPTION]... COMMAND [TARGET]\n"
	      "Shows what programs on libqa hold in memory, and makes them give back what they cache.\n"
	      "\nCommands:\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		char usage[40];

		if (commands[i]->is_internal)
			continue;
		snprintf(usage, sizeof(usage), is_optional(commands[i]) ? "%s [%s]" : "%s %s", commands[i]->name,
			 commands[i]->operand);
		fprintf(out, "  %-18s  %s\n", usage, commands[i]->summary);
	}
	fprintf(out, "  %-18s  %s\n", "help [COMMAND]", "show this help, or that of a command");
	fputs("\nTARGET is a pid, a command name or a label given by QA_NAME.\n\nOptions:\n", out);
	print_options(out, OPTIONS_GLOBAL);
	fputs("\nqad is looked for at QAD_SOCKET; else at /run/qad/qad.sock,\n"
	      "$XDG_RUNTIME_DIR/qad/qad.sock and /tmp/qad-UID/qad.sock.\n"
	      "\nExit status: 0 done, 64 usage, 65 damaged file, 66 nothing recorded, 67 no such\n"
	      "target, 69 qad not reachable, 71 out of memory, 73 file exists, 74 output failed,\n"
	      "75 no answer in time, 76 protocol error, 77 not allowed; of run: that of the\n"
	      "program. See qactl(1).\n",
	      out);
}

void options_print_command_help(FILE *out, const struct command *command)
{
	fprintf(out, "Usage: qactl %s [OPTION]...", command->name);
	if (command_takes_target(command))
		fprintf(out, is_optional(command) ? " [%s]" : " %s", command->operand);
	fprintf(out, "%s\n%s\nOptions:\n", command->rest ? command->rest : "", command->description);
	print_options(out, command->options | (OPTIONS_GLOBAL & ~OPTION_VERSION));
}
