/*
 * target.h - the targets that qad knows.
 *
 * From here upward functions return an exit status: 0, or one of sysexits.h after having said on stderr why.
 */
#ifndef QACTL_TARGET_H
#define QACTL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "client.h"
#include "figures.h"

/* Of target_label's text: command and name, each byte escaped, and what is between them. */
enum { TARGET_LABEL_BYTES = 560 };

struct target {
	uint64_t pid, inner_pid, uid, uptime_s, rss_bytes;
	char command[QP_NAME_BYTES + 1];
	char name[QP_NAME_BYTES + 1];
	char user[33]; /* of uid; the number when it has no name */
	char version[32];
	char *exe, *cgroup; /* on the heap; NULL: not known */
	bool is_silent;
	bool has_figures; /* what follows is known */
	uint64_t age_ms;
	struct qp_totals totals;
};

struct target_list {
	struct target *items; /* by pid */
	size_t count;
};

/* Reads the keys of a target and, where there are any, of totals; the reader's error tells what was wrong. */
void target_read(struct qp_reader *reader, struct target *target);
void target_finish(struct target *target);

/* "docview", or "docview (label)" when QA_NAME says more; escaped. */
void target_label(const char *command, const char *name, char *text, size_t text_bytes);

/* All targets; figures: with their totals, for which qad asks each of them. */
int target_list_fetch(struct client *client, bool figures, struct target_list *list);
void target_list_finish(struct target_list *list);

/* The list as a table, with the columns of figures or only with who they are. */
void target_list_print(FILE *out, const struct target_list *list, bool figures);

#endif
