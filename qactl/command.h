/*
 * command.h - what a subcommand is, and the options.
 */
#ifndef QACTL_COMMAND_H
#define QACTL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each option is a bit: a command says which it takes, the command line which were given. */
enum {
	OPTION_HELP = 1 << 0,
	OPTION_VERSION = 1 << 1,
	OPTION_SOCKET = 1 << 2,
	OPTION_JSON = 1 << 3,
	OPTION_ALL = 1 << 4,
	OPTION_ALL_CLASSES = 1 << 5,
	OPTION_INTERVAL = 1 << 6,
	OPTION_COUNT = 1 << 7,
	OPTION_CLASS = 1 << 8,
	OPTION_POOL = 1 << 9,
	OPTION_KEEP = 1 << 10,
	OPTION_NAME = 1 << 11,
	OPTION_NO_START = 1 << 12,
	OPTION_STATS_AT_EXIT = 1 << 13,
	OPTION_CSV = 1 << 14,
	OPTION_CLASSES = 1 << 15,
	OPTION_OUTPUT = 1 << 16,
	OPTION_DURATION = 1 << 17,
	OPTION_FORCE = 1 << 18,
	OPTION_SPEED = 1 << 19,
	OPTION_FILE = 1 << 20,
	OPTION_SINCE = 1 << 21,
	OPTION_STEP = 1 << 22,
	OPTION_WIDTH = 1 << 23,
	OPTION_HEIGHT = 1 << 24,
	OPTION_FOLLOW = 1 << 25,
	OPTION_ONCE = 1 << 26,
	OPTION_READONLY = 1 << 27,
	OPTION_SORT = 1 << 28,
	OPTION_FILTER = 1 << 29,
	OPTION_DELAY = 1 << 30,
};

/* Those that may stand before the command's name, and that every command takes. */
enum { OPTIONS_GLOBAL = OPTION_HELP | OPTION_VERSION | OPTION_SOCKET };

struct request {
	unsigned given;     /* options */
	const char *socket; /* of --socket, else NULL */
	const char *target; /* the operand, else NULL */
	uint64_t interval_ms, count, block_size, keep_bytes;
	const char *pool;
	const char *name;          /* of --name, else NULL */
	const char *output;        /* of --output, else NULL */
	const char *file;          /* of --file, else NULL */
	const char *sort, *filter; /* of --sort, --filter, else NULL */
	uint64_t duration_ms, since_s, step_s, width, height;
	double speed;
	char **words; /* the command line of another program, or what follows the operand; ends with NULL */
	size_t word_count;
};

struct command {
	const char *name;
	const char *operand; /* what follows the name in the help: "TARGET", "" */
	const char *rest;    /* what may follow the operand: " [INTERVAL [COUNT]]"; NULL: nothing */
	unsigned rest_words; /* how many words that are at most */
	const char *missing; /* what to say when a required operand is not there; NULL: that a target is to be named */
	const char *summary; /* a line in the list of commands */
	const char *description;
	bool is_internal;                          /* not in the list of commands */
	bool takes_command_line;                   /* the operand and all that follows: words, not a target */
	unsigned options;                          /* besides the global ones */
	unsigned target_optional_with;             /* options of which one makes the operand optional; 0: none does */
	bool is_target_optional;                   /* it may always be left out */
	int (*run)(const struct request *request); /* returns the exit status */
};

/* All commands, in the order of the help; ends with NULL. */
extern const struct command *const commands[];

/* NULL: there is none of that name. */
const struct command *command_find(const char *name);

extern const struct command command_complete;
extern const struct command command_ps;
extern const struct command command_run;
extern const struct command command_stats;
extern const struct command command_top;
extern const struct command command_trim;
extern const struct command command_watch;
extern const struct command command_map;
extern const struct command command_plot;
extern const struct command command_record;
extern const struct command command_replay;
extern const struct command command_doctor;
extern const struct command command_health;

static inline bool command_takes_target(const struct command *command)
{
	return command->operand[0] != '\0';
}

/* Whether what follows its TARGET are more of them. */
static inline bool command_takes_more_targets(const struct command *command)
{
	return command->rest && !command->takes_command_line && command->rest[0] == '.';
}

#endif
