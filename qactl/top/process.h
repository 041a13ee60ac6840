/*
 * process.h - the processes of top: the newest figures of each, its rates, its trend.
 *
 * Rates are differences between two sets of figures of one process, divided by the time between them; they are known
 * from the second on. A pid that is used again is another process. Times are of client_clock_ms.
 */
#ifndef QACTL_PROCESS_H
#define QACTL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read.h"
#include "target.h"
#include "top/trend.h"

struct process {
	struct target target;
	int64_t figures_ms;                 /* when the figures were those of the process */
	double allocs_s, frees_s, growth_s; /* rates, a second; growth: of held, in bytes */
	struct trend trend;
	bool has_rates; /* they are known */
	bool is_history_asked;
};

struct process_list {
	struct process *items; /* by pid */
	size_t count;
	uint64_t left_out; /* by qad, which shows 4,096 */
};

/*
 * Takes the params of a notification of all targets: who is not there any more is gone. 0; -ENOMEM; -EBADMSG and the
 * key in error. After an error the list is as it was.
 */
int process_list_take(struct process_list *list, const msgpack_object *params, int64_t now_ms, const char **bad);
void process_list_finish(struct process_list *list);

struct process *process_list_find(const struct process_list *list, uint64_t pid);

/* Takes newer figures of one process, which it then owns. */
void process_update(struct process *process, const struct target *target, int64_t now_ms);

/* Takes an answer to history (step_s 1) into the trend. Returns the key in error, or NULL. */
const char *process_take_history(struct process *process, const msgpack_object *result, int64_t now_ms);

#endif
