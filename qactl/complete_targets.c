/*
 * A name is offered only if it works when it is typed: a number would be taken as a pid, one that begins with - as an
 * option, one that begins with ~ fish would take as somebody's home, and what can not be shown can not be chosen.
 */
#include "complete_targets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "resolve.h"
#include "text.h"

static bool is_usable(const char *name)
{
	char shown[TARGET_LABEL_BYTES];

	text_escape(shown, sizeof(shown), name);
	return *name && *name != '-' && *name != '~' && name[strspn(name, "0123456789")] && strcmp(shown, name) == 0;
}

static size_t count_meant(const struct target_list *list, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += resolve_is_meant(&list->items[i], name);
	return count;
}

/* Whether a target before this one had the name already. */
static bool is_known(const struct target_list *list, size_t index, const char *name)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(list->items[i].command, name) == 0 || strcmp(list->items[i].name, name) == 0)
			return true;
	return false;
}

static void offer_name(const struct target_list *list, size_t index, const char *name)
{
	const struct target *target = &list->items[index];
	size_t count = count_meant(list, name);
	char label[TARGET_LABEL_BYTES];

	if (!is_usable(name) || is_known(list, index, name))
		return;
	target_label(target->command, target->name, label, sizeof(label));
	if (count == 1)
		printf("%s\t%s, pid %" PRIu64 "\n", name, label, target->pid);
	else
		printf("%s\t%zu targets\n", name, count);
}

static bool has_name_alone(const struct target_list *list, const struct target *target)
{
	return (is_usable(target->command) && count_meant(list, target->command) == 1) ||
	       (is_usable(target->name) && count_meant(list, target->name) == 1);
}

void complete_targets(const struct target_list *list, const char *word)
{
	bool wants_pid = *word >= '0' && *word <= '9';

	for (size_t i = 0; i < list->count; i++) {
		const struct target *target = &list->items[i];
		char label[TARGET_LABEL_BYTES];

		if (!wants_pid) {
			offer_name(list, i, target->command);
			if (strcmp(target->command, target->name) != 0)
				offer_name(list, i, target->name);
		}
		if (!wants_pid && (*word || has_name_alone(list, target)))
			continue;
		target_label(target->command, target->name, label, sizeof(label));
		printf("%" PRIu64 "\t%s\n", target->pid, label);
	}
}
