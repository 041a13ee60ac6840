/*
 * Each notification brings all targets anew. They are sorted by pid and then walked beside the list there was, so that
 * a thousand of them cost no search each.
 */
#include "top/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Figures closer together than this say nothing about a rate. */
enum { RATE_LEAST_MS = 20 };

/* Older ones are not told apart. */
enum { MOST_AGE_MS = 1000000000 };

static int by_pid(const void *left, const void *right)
{
	const struct process *a = left, *b = right;

	return (a->target.pid > b->target.pid) - (a->target.pid < b->target.pid);
}

static void finish_items(struct process *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		target_finish(&items[i].target);
	free(items);
}

void process_list_finish(struct process_list *list)
{
	finish_items(list->items, list->count);
	memset(list, 0, sizeof(*list));
}

struct process *process_list_find(const struct process_list *list, uint64_t pid)
{
	struct process wanted = {.target.pid = pid};

	return list->count ? bsearch(&wanted, list->items, list->count, sizeof(wanted), by_pid) : NULL;
}

/* Whether now is a later state of the process that then was. */
static bool is_same(const struct target *then, const struct target *now)
{
	return then->pid == now->pid && then->uid == now->uid && then->uptime_s <= now->uptime_s;
}

static double rate(uint64_t before, uint64_t after, int64_t ms)
{
	return ((double)after - (double)before) * 1000 / (double)ms;
}

static void compare(struct process *now, const struct process *before)
{
	const struct qp_totals *old = &before->target.totals, *new = &now->target.totals;
	int64_t ms = now->figures_ms - before->figures_ms;

	if (!before->target.has_figures || now->target.is_silent || new->allocs < old->allocs ||
	    new->frees < old->frees)
		return;
	if (ms < RATE_LEAST_MS) {
		/* The same figures once more, say: measured from those before. */
		now->has_rates = before->has_rates;
		now->allocs_s = before->allocs_s;
		now->frees_s = before->frees_s;
		now->growth_s = before->growth_s;
		return;
	}
	now->has_rates = true;
	now->allocs_s = rate(old->allocs, new->allocs, ms);
	now->frees_s = rate(old->frees, new->frees, ms);
	now->growth_s = rate(old->held_bytes, new->held_bytes, ms);
}

/* before NULL: it is new. */
static void set(struct process *process, const struct target *target, const struct process *before, int64_t now_ms)
{
	memset(process, 0, sizeof(*process));
	process->target = *target;
	process->figures_ms = now_ms - (int64_t)(target->age_ms < MOST_AGE_MS ? target->age_ms : MOST_AGE_MS);
	if (before) {
		process->trend = before->trend;
		process->is_history_asked = before->is_history_asked;
		if (target->has_figures)
			compare(process, before);
	}
	if (target->has_figures && !target->is_silent) {
		struct trend_point point = {target->totals.used_bytes, target->totals.cached_bytes, target->rss_bytes};

		trend_put(&process->trend, process->figures_ms, &point);
	}
}

void process_update(struct process *process, const struct target *target, int64_t now_ms)
{
	struct process before = *process;

	set(process, target, is_same(&before.target, target) ? &before : NULL, now_ms);
	target_finish(&before.target);
}

static int read_all(struct process_list *list, const msgpack_object *params, const char **bad)
{
	struct qp_reader reader = qp_reader_of(params);
	size_t count;
	const msgpack_object *rows = qp_read_array(&reader, "targets", &count);

	list->left_out = qp_read_u64_or(&reader, "left_out", 0);
	*bad = reader.bad;
	if (reader.bad)
		return -EBADMSG;
	list->items = calloc(count ? count : 1, sizeof(*list->items));
	if (!list->items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct qp_reader row = qp_reader_of(&rows[i]);

		target_read(&row, &list->items[list->count++].target);
		*bad = row.bad;
		if (row.bad)
			return -EBADMSG;
	}
	qsort(list->items, list->count, sizeof(*list->items), by_pid);
	return 0;
}

int process_list_take(struct process_list *list, const msgpack_object *params, int64_t now_ms, const char **bad)
{
	struct process_list new = {0};
	size_t old = 0;
	int error = read_all(&new, params, bad);

	if (error < 0) {
		process_list_finish(&new);
		return error;
	}
	for (size_t i = 0; i < new.count; i++) {
		struct target target = new.items[i].target;
		const struct process *before = NULL;

		while (old < list->count && list->items[old].target.pid < target.pid)
			old++;
		if (old < list->count && is_same(&list->items[old].target, &target))
			before = &list->items[old];
		set(&new.items[i], &target, before, now_ms);
	}
	process_list_finish(list);
	*list = new;
	return 0;
}

static bool read_point(const msgpack_object *const columns[3], size_t index, struct trend_point *point)
{
	uint64_t values[3];

	for (int i = 0; i < 3; i++) {
		if (columns[i][index].type != MSGPACK_OBJECT_POSITIVE_INTEGER)
			return false;
		values[i] = columns[i][index].via.u64;
	}
	*point = (struct trend_point){values[0], values[1], values[2]};
	return true;
}

const char *process_take_history(struct process *process, const msgpack_object *result, int64_t now_ms)
{
	static const char *const keys[3] = {"used_bytes", "cached_bytes", "rss_bytes"};
	struct qp_reader reader = qp_reader_of(result);
	uint64_t age_s = qp_read_u64(&reader, "first_age_s");
	const msgpack_object *columns[3];
	size_t counts[3];

	for (int i = 0; i < 3; i++)
		columns[i] = qp_read_array(&reader, keys[i], &counts[i]);
	if (reader.bad)
		return reader.bad;
	if (counts[1] != counts[0] || counts[2] != counts[0])
		return "points";
	/* The newest first: of several in one slot it is the one that counts. */
	for (size_t i = counts[0]; i-- > 0;) {
		struct trend_point point;

		if (age_s < INT32_MAX && read_point(columns, i, &point))
			trend_fill(&process->trend, now_ms - ((int64_t)age_s - (int64_t)i) * 1000, &point);
	}
	return NULL;
}
