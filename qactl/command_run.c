/*
 * run: a program on libqa that was not written for it. Everything that can go wrong is said before the program starts;
 * from then on qactl is gone, or with --stats-at-exit only waits.
 */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "output.h"
#include "protocol.h"
#include "run_exit.h"
#include "run_library.h"
#include "run_program.h"
#include "run_qad.h"

static int set(const char *variable, const char *value)
{
	if (!value || setenv(variable, value, 1) == 0)
		return 0;
	return output_no_memory();
}

static int check_name(const char *name)
{
	if (!name || (*name && strlen(name) <= QP_NAME_BYTES))
		return 0;
	output_say("--name takes 1 to %u bytes", QP_NAME_BYTES);
	return EX_USAGE;
}

static int run(const struct request *request)
{
	char path[PATH_MAX], library[PATH_MAX];
	int status = check_name(request->name);

	if (status == 0)
		status = run_program_find(request->words[0], path);
	if (status == 0)
		status = run_library_find(library);
	if (status == 0)
		status = run_qad_ensure(request->socket, !(request->given & OPTION_NO_START));
	if (status == 0)
		status = run_library_preload(library);
	if (status == 0)
		status = set("QA_NAME", request->name);
	if (status == 0)
		status = set("QAD_SOCKET", request->socket);
	if (status != 0)
		return status;
	if (request->given & OPTION_STATS_AT_EXIT)
		return run_exit(path, request->words, request->name ? request->name : getenv("QA_NAME"),
				request->socket);
	return run_exec(path, request->words);
}

const struct command command_run = {
	.name = "run",
	.operand = "COMMAND",
	.takes_command_line = true,
	.rest = " [ARGUMENT]...",
	.missing = "name the program to run",
	.summary = "start a program with libqa in place of malloc",
	.description = "Starts a program as it is, with libqa in place of malloc and of C++ new, so that\n"
		       "qactl sees and trims it. Options after COMMAND are the program's. Starts your qad\n"
		       "if none is reachable. The exit status is the program's own; 126: it can not run\n"
		       "so (it is static, set-user-ID ...), 127: not found, 69: no qad, 78: no library.\n",
	.options = OPTION_NAME | OPTION_NO_START | OPTION_STATS_AT_EXIT,
	.run = run,
};
