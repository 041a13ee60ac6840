/*
 * ps: all targets with their totals. A silent target costs qad's deadline of 2 s once, however many are silent.
 */
#include "command.h"

#include <stdio.h>

#include "json.h"
#include "output.h"
#include "target.h"
#include "with_qad.h"

static int print_json(const struct target_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, json_from_target(&list->items[i]));
	return json_print(array);
}

static int print(const struct client *client, const struct request *request, const struct target_list *list)
{
	char path[CLIENT_PATH_TEXT_BYTES];

	if (request->given & OPTION_JSON)
		return print_json(list);
	target_list_print(stdout, list, true);
	if (list->count == 0)
		output_say("no targets at %s; a program shows up here when it runs on libqa with its agent on, and you "
			   "may see it",
			   client_path_text(client, path));
	return 0;
}

static int show(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	struct target_list list;
	int status = target_list_fetch(client, true, &list);

	(void)targets; /* all are shown */
	if (status == 0) {
		status = print(client, request, &list);
		target_list_finish(&list);
	}
	return status;
}

static int run(const struct request *request)
{
	return with_qad(request, NULL, show);
}

const struct command command_ps = {
	.name = "ps",
	.operand = "",
	.summary = "list the programs that run on libqa, with what each holds",
	.description = "Lists the targets: processes that run on libqa and that you may see.\n"
		       "\n"
		       "  HELD     memory that libqa has from the system\n"
		       "  USED     the part of it in blocks that the program has now\n"
		       "  CACHED   the rest, which 'qactl trim' can mostly give back\n"
		       "  RSS      resident memory of the whole process\n"
		       "  THREADS  threads that have a cache of free blocks\n"
		       "  STATE    ok, or silent: it does not answer, and its last figures have the age that is shown\n"
		       "  COMMAND  the command, and in parentheses the label that QA_NAME gave it\n",
	.options = OPTION_JSON,
	.run = run,
};
