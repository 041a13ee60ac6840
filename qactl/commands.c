/*
 * The table of commands, apart from main.c: completions list it too.
 */
#include <string.h>

#include "command.h"

const struct command *const commands[] = {
	&command_ps,       &command_run,  &command_stats,  &command_top,    &command_trim,   &command_watch,
	&command_map,      &command_plot, &command_record, &command_replay, &command_doctor, &command_health,
	&command_complete, NULL};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}
