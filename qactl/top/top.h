/*
 * top.h - the state of qactl top, between the loop that feeds it keys and news and the drawing that shows it.
 *
 * No part of it knows ncurses but screen.c. Arrows: loop -> top, draw -> screen; draw only reads the state.
 */
#ifndef QACTL_TOP_H
#define QACTL_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "resolve.h"
#include "stats_table.h"
#include "top/process.h"
#include "top/prompt.h"
#include "top/top_link.h"
#include "top/view.h"

enum { TOP_INTERVAL_MS = 1000 };

enum top_page { TOP_LIST, TOP_PROCESS, TOP_HELP };

/* Where what is on the screen: made for its size before each drawing, and used by the mouse after it. */
struct layout {
	int width, height;
	int head;               /* lines of it, from 0 */
	int titles, rows, foot; /* y of the line, or of the first one; -1: not there */
	int row_count;
	int widths[COLUMNS_MOST];
};

struct top {
	struct link link;
	bool is_readonly;
	bool is_done;
	uint64_t interval_ms;

	enum top_page page, page_before; /* before: the help was opened */
	struct process_list list;
	struct view processes, classes;
	int64_t figures_ms; /* when the newest came; 0: none have */

	/* The open process, also when it has ended. */
	struct process open;
	struct stats stats; /* without figures: rows NULL */
	char who[TARGET_LABEL_BYTES + 32];
	bool is_ended;

	struct prompt prompt;
	uint64_t trim_pid; /* the question is about it, and this part of it */
	uint64_t trim_block_size;
	char trim_pool[QP_NAME_BYTES + 1];
	char trim_who[TARGET_LABEL_BYTES + 200];
	int trims_open;

	char message[1024]; /* until the next key */
	struct layout layout;
};

/* match: the process to open at once, or NULL. The first watch is begun. */
void top_init(struct top *top, const struct request *request, struct client *client, const struct resolve_match *match);
/* Only the views, as the command line wants them. */
void top_init_views(struct top *top, const struct request *request);
void top_finish(struct top *top);

/* What is news of the link. */
void top_take_news(struct top *top, enum link_news news, const struct qp_message *message);

/* A key of keys.h or a character; x and y with those of the mouse. */
void top_take_key(struct top *top, int key, int x, int y);

/* Filter and order follow the figures; before each drawing. Asks for the history of what is seen. */
void top_arrange(struct top *top, int width, int height);

/* Top did not look for a while: somebody else may have, so what is seen next is asked for its history once more. */
void top_forget_histories(struct top *top);

void top_say(struct top *top, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether qad would watch so; says why not. An exit status. */
int top_try_watch(struct client *client, const struct request *request, const struct resolve_match *match);

/* How top runs on a terminal, and as one plain frame. Exit statuses. */
int top_run(struct client *client, const struct request *request, const struct resolve_result *targets);
int top_print_once(struct client *client, const struct request *request, const struct resolve_result *targets);

#endif
