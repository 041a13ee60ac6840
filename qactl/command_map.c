/*
 * map: how full the pages of a target's classes are.
 */
#include <inttypes.h>
#include <sysexits.h>

#include "command.h"
#include "json.h"
#include "map.h"
#include "output.h"
#include "with_qad.h"
#include "write.h"

static int print(const struct request *request, struct map *map, const char *who)
{
	struct terminal terminal;

	if ((request->given & OPTION_CLASS) && map->count == 0) {
		output_say("%s: has no pages of blocks of %" PRIu64
			   " bytes; 'qactl map' without --class shows which it has",
			   who, request->block_size);
		return EX_NOUSER;
	}
	if (request->given & OPTION_JSON)
		return json_print(map_to_json(map));
	terminal_look(&terminal);
	map_print(stdout, map, &terminal);
	return 0;
}

static int show(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	const struct resolve_match *match = &targets->matches[0];
	const struct qp_message *message;
	struct map map = {.count = 0};
	uint32_t id;
	struct qp_buffer *out = client_begin(client, "map", &id);
	int status;

	qp_write_map(out, 1);
	qp_write_key_u64(out, "pid", match->pid);
	status = with_qad_ask(client, id, match->who, &message);
	if (status != 0)
		return status;
	status = map_read(&map, &message->body, request->block_size);
	if (status == 0)
		status = print(request, &map, match->who);
	map_finish(&map);
	return status;
}

static int run(const struct request *request)
{
	struct resolve_query query = {.operand = request->target, .advice = "name one by its pid"};

	return with_qad(request, &query, show);
}

const struct command command_map = {
	.name = "map",
	.operand = "TARGET",
	.summary = "show how full its pages are, and what that pins",
	.description = "Shows for each size class how many of its pages are how full, from nearly empty on\n"
		       "the left to full on the right; then, for each tenth, how many bytes are free beside\n"
		       "blocks that are out (used, or in a thread's cache), and so can not go back as pages.\n",
	.options = OPTION_JSON | OPTION_CLASS,
	.run = run,
};
