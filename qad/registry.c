/*
 * A sorted array: at most as many entries as connections, read far more often than changed, and in the order in which
 * `ps` shows them.
 */
#include "registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The index of the first target whose pid is not less. */
static size_t find_index(const struct registry *registry, pid_t pid)
{
	size_t low = 0, high = registry->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (registry->targets[middle]->peer->who.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int grow(struct registry *registry)
{
	size_t capacity = registry->capacity > 0 ? registry->capacity * 2 : 64;
	struct target **targets = realloc(registry->targets, capacity * sizeof(struct target *));

	if (targets == NULL)
		return -ENOMEM;
	registry->targets = targets;
	registry->capacity = capacity;
	return 0;
}

int registry_add(struct registry *registry, struct target *target)
{
	pid_t pid = target->peer->who.pid;
	size_t index = find_index(registry, pid);

	target->behind = registry_find(registry, pid);
	if (target->behind != NULL) {
		registry->targets[index] = target;
		registry->removals++;
		return 0;
	}
	if (registry->count == registry->capacity && grow(registry) != 0)
		return -ENOMEM;
	memmove(&registry->targets[index + 1], &registry->targets[index],
		(registry->count - index) * sizeof(struct target *));
	registry->targets[index] = target;
	registry->count++;
	return 0;
}

void registry_remove(struct registry *registry, const struct target *target)
{
	size_t index = find_index(registry, target->peer->who.pid);
	struct target **place;

	if (registry_find(registry, target->peer->who.pid) == NULL)
		return;
	place = &registry->targets[index];
	while (*place != NULL && *place != target)
		place = &(*place)->behind;
	if (*place == NULL)
		return;
	registry->removals += *place == registry->targets[index];
	*place = target->behind;
	if (registry->targets[index] != NULL)
		return;
	registry->count--;
	memmove(&registry->targets[index], &registry->targets[index + 1],
		(registry->count - index) * sizeof(struct target *));
}

struct target *registry_find(const struct registry *registry, pid_t pid)
{
	size_t index = find_index(registry, pid);

	if (index == registry->count || registry->targets[index]->peer->who.pid != pid)
		return NULL;
	return registry->targets[index];
}

void registry_finish(struct registry *registry)
{
	free(registry->targets);
	*registry = (struct registry){.targets = NULL};
}
