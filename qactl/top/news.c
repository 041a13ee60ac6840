/*
 * What qad says. Figures replace those before; what can not be understood ends the connection, as a qad of another
 * release may have come.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "size.h"
#include "stats_read.h"
#include "top/top.h"
#include "trim_table.h"

static void take_list(struct top *top, const struct qp_message *message)
{
	const char *bad;
	int error = process_list_take(&top->list, &message->body, client_clock_ms(), &bad);

	if (error == -EBADMSG)
		link_fail(&top->link, bad);
	else if (error < 0)
		top_say(top, "Out of memory: the figures are not those of now.");
	else
		top->figures_ms = client_clock_ms();
}

/* One target, with classes if it has ever answered. 0, -ENOMEM, -EBADMSG and the key in error. */
static int read_one(const msgpack_object *params, struct stats *stats, const char **bad)
{
	struct qp_reader reader = qp_reader_of(params), row;
	size_t count;
	const msgpack_object *targets = qp_read_array(&reader, "targets", &count);

	*bad = reader.bad ? reader.bad : "targets";
	if (reader.bad || count != 1)
		return -EBADMSG;
	row = qp_reader_of(&targets[0]);
	if (qp_read_value(&row, "held_bytes"))
		return stats_decode(&targets[0], stats, bad);
	target_read(&row, &stats->target);
	*bad = row.bad;
	return row.bad ? -EBADMSG : 0;
}

static void take_process(struct top *top, const struct qp_message *message)
{
	struct stats stats;
	const char *bad;
	int error;

	memset(&stats, 0, sizeof(stats));
	error = read_one(&message->body, &stats, &bad);
	if (error < 0) {
		stats_finish(&stats);
		if (error == -EBADMSG)
			link_fail(&top->link, bad);
		else
			top_say(top, "Out of memory: the figures are not those of now.");
		return;
	}
	process_update(&top->open, &stats.target, client_clock_ms());
	stats.target.exe = stats.target.cgroup = NULL; /* the process has them now */
	stats_finish(&top->stats);
	top->stats = stats;
	top->figures_ms = client_clock_ms();
}

static void take_history(struct top *top, const struct qp_message *message)
{
	struct process *process = top->link.pid == top->link.pid_of_news
					  ? &top->open
					  : process_list_find(&top->list, top->link.pid_of_news);
	const char *bad = NULL;

	/* No history, as of a process that has just ended: the line stays empty. */
	if (process && !message->has_error)
		bad = process_take_history(process, &message->body, client_clock_ms());
	if (bad)
		link_fail(&top->link, bad);
}

static void take_trim(struct top *top, const struct qp_message *message)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	struct trim trim;
	char who[TARGET_LABEL_BYTES + 32], sizes[5][SIZE_TEXT], duration[SIZE_TEXT], label[TARGET_LABEL_BYTES];

	if (top->trims_open > 0)
		top->trims_open--;
	snprintf(who, sizeof(who), "pid %llu", (unsigned long long)top->link.pid_of_news);
	if (message->has_error) {
		answer_describe(message, who, top->message, sizeof(top->message));
		return;
	}
	memset(&trim, 0, sizeof(trim));
	trim_read(&reader, &trim);
	if (reader.bad) {
		link_fail(&top->link, reader.bad);
		return;
	}
	target_label(trim.command, trim.name, label, sizeof(label));
	size_format(trim.figures.returned_bytes, sizes[0], sizeof(sizes[0]));
	size_format_brief(trim.rss_before_bytes, sizes[1], sizeof(sizes[1]));
	size_format_brief(trim.rss_after_bytes, sizes[2], sizeof(sizes[2]));
	size_format_brief(trim.figures.cached_before_bytes, sizes[3], sizeof(sizes[3]));
	size_format_brief(trim.figures.cached_after_bytes, sizes[4], sizeof(sizes[4]));
	size_format_duration(trim.figures.duration_us, duration, sizeof(duration));
	top_say(top, "Returned %s in %s: %s, %s; rss %s -> %s, cached %s -> %s", sizes[0], duration, label, who,
		sizes[1], sizes[2], sizes[3], sizes[4]);
}

void top_take_news(struct top *top, enum link_news news, const struct qp_message *message)
{
	switch (news) {
	case LINK_FIGURES:
		if (top->link.pid)
			take_process(top, message);
		else
			take_list(top, message);
		break;
	case LINK_ENDED:
		top->is_ended = true;
		top->message[0] = '\0'; /* the bottom line is for this */
		break;
	case LINK_HISTORY:
		take_history(top, message);
		break;
	case LINK_TRIM:
		take_trim(top, message);
		break;
	case LINK_STATE:
		top->message[0] = '\0';
		top_forget_histories(top);
		if (top->link.state == LINK_DOWN && top->trims_open > 0) {
			top->trims_open = 0;
			top_say(top, "qad went away before it told what the trim returned.");
		}
		break;
	case LINK_NOTHING:
		break;
	}
}
