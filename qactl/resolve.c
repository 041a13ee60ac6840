/*
 * A TARGET of digits only is a pid, so that a script that has a pid can never hit a program with a queer name. Anything
 * else is compared with command and QA_NAME as a whole: a trim should not reach what merely looks similar.
 */
#include "resolve.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "answer.h"
#include "output.h"
#include "text.h"

/* A command in /proc has at most 15 bytes. */
enum { COMMAND_BYTES = 15 };

static bool is_pid(const char *operand)
{
	return *operand && operand[strspn(operand, "0123456789")] == '\0';
}

/* Whether a command was cut by the kernel and name is what it was, by the file that runs. */
static bool is_whole_command(const struct target *target, const char *name)
{
	const char *slash =
		target->exe ? strrchr(target->exe, '/') : NULL; /* not told by a watch, nor by a recording */

	return strlen(target->command) == COMMAND_BYTES && strncmp(name, target->command, COMMAND_BYTES) == 0 &&
	       slash && strcmp(slash + 1, name) == 0;
}

static bool is_match(const struct target *target, const char *name)
{
	return strcmp(target->command, name) == 0 || (*target->name && strcmp(target->name, name) == 0) ||
	       is_whole_command(target, name);
}

/* Moves those that match to the front; the others are freed. */
static void keep_matching(struct target_list *list, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (is_match(&list->items[i], name))
			list->items[kept++] = list->items[i];
		else
			target_finish(&list->items[i]);
	}
	list->count = kept;
}

static int allocate(struct resolve_result *result, size_t count)
{
	result->matches = calloc(count ? count : 1, sizeof(*result->matches));
	if (result->matches)
		return 0;
	return output_no_memory();
}

static int resolve_pid(const char *operand, struct resolve_result *result)
{
	struct resolve_match *match;
	unsigned long long pid;
	int status;

	errno = 0;
	pid = strtoull(operand, NULL, 10);
	if (errno || pid == 0 || pid > INT_MAX)
		return answer_no_target(operand);
	status = allocate(result, 1);
	if (status != 0)
		return status;
	match = &result->matches[result->count++];
	match->pid = pid;
	snprintf(match->who, sizeof(match->who), "pid %llu", pid);
	return 0;
}

static int take_matches(const struct target_list *list, struct resolve_result *result)
{
	int status = allocate(result, list->count);

	if (status != 0)
		return status;
	for (size_t i = 0; i < list->count; i++) {
		const struct target *target = &list->items[i];
		struct resolve_match *match = &result->matches[result->count++];
		char label[TARGET_LABEL_BYTES];

		match->pid = target->pid;
		target_label(target->command, target->name, label, sizeof(label));
		snprintf(match->who, sizeof(match->who), "%s, pid %" PRIu64, label, target->pid);
	}
	return 0;
}

static int check_matches(const struct target_list *list, const struct resolve_query *query)
{
	char text[1024];

	if (!query->operand || (list->count >= 1 && (list->count == 1 || query->is_all)))
		return 0;
	text_escape(text, sizeof(text), query->operand);
	if (list->count == 0)
		return answer_no_target(text);
	output_say("%zu targets are called %s; %s:", list->count, text, query->advice);
	target_list_print(stderr, list, false);
	return EX_USAGE;
}

bool resolve_is_meant(const struct target *target, const char *operand)
{
	return is_pid(operand) ? strtoull(operand, NULL, 10) == target->pid : is_match(target, operand);
}

int resolve_add(struct resolve_result *result, const struct resolve_match *match)
{
	struct resolve_match *matches;

	for (size_t i = 0; i < result->count; i++)
		if (result->matches[i].pid == match->pid)
			return 0;
	matches = realloc(result->matches, (result->count + 1) * sizeof(*matches));
	if (!matches)
		return output_no_memory();
	result->matches = matches;
	result->matches[result->count++] = *match;
	return 0;
}

int resolve_targets(struct client *client, const struct resolve_query *query, struct resolve_result *result)
{
	struct target_list list;
	int status;

	memset(result, 0, sizeof(*result));
	if (query->operand && is_pid(query->operand))
		return resolve_pid(query->operand, result);
	status = target_list_fetch(client, false, &list);
	if (status != 0)
		return status;
	if (query->operand)
		keep_matching(&list, query->operand);
	status = check_matches(&list, query);
	if (status == 0)
		status = take_matches(&list, result);
	target_list_finish(&list);
	return status;
}

void resolve_finish(struct resolve_result *result)
{
	free(result->matches);
	memset(result, 0, sizeof(*result));
}
