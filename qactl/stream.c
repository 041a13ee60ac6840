/*
 * Titles come again with each screenful, as in vmstat(8): of the terminal's height, or every 20 lines in a pipe. CSV
 * has them once, and always the same columns. A round is flushed as a whole, so that who reads along never waits for
 * the rest of a line.
 */
#include "stream.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "csv.h"
#include "json.h"
#include "output.h"
#include "size.h"
#include "stream_parts.h"
#include "terminal.h"

enum { TITLE_EVERY = 20 };

void stream_init(struct stream *stream, const struct request *request, bool is_parts)
{
	memset(stream, 0, sizeof(*stream));
	stream->form = request->given & OPTION_JSON  ? STREAM_JSON
		       : request->given & OPTION_CSV ? STREAM_CSV
		       : is_parts                    ? STREAM_PARTS
						     : STREAM_TABLE;
	stream->has_classes = request->given & OPTION_CLASSES;
}

static bool is_time_for_titles(const struct stream *stream)
{
	struct terminal terminal;

	terminal_look(&terminal);
	return stream->lines % (terminal.is_terminal && terminal.lines > 4 ? terminal.lines - 2 : TITLE_EVERY) == 0;
}

static void print_line(const struct target *target, uint64_t time_ms)
{
	char held[SIZE_TEXT] = "-", used[SIZE_TEXT] = "-", cached[SIZE_TEXT] = "-", rss[SIZE_TEXT];
	char label[TARGET_LABEL_BYTES], clock[16] = "-";
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm parts;

	if (target->has_figures) {
		size_format(target->totals.held_bytes, held, sizeof(held));
		size_format(target->totals.used_bytes, used, sizeof(used));
		size_format(target->totals.cached_bytes, cached, sizeof(cached));
	}
	if (localtime_r(&seconds, &parts))
		strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
	size_format(target->rss_bytes, rss, sizeof(rss));
	target_label(target->command, target->name, label, sizeof(label));
	printf("%-8s %8" PRIu64 " %10s %10s %10s %10s  %s%s\n", clock, target->pid, held, used, cached, rss, label,
	       target->is_silent ? " (silent)" : "");
}

static int print_json(const struct stream *stream, const struct stats *item, uint64_t time_ms)
{
	json_t *object = json_from_target(&item->target), *classes;

	json_object_set_new(object, "time_s", json_from_u64(time_ms / 1000));
	json_object_set_new(object, "time_ms", json_from_u64(time_ms));
	if (stream->has_classes) {
		classes = json_array();
		for (size_t i = 0; i < item->row_count; i++)
			json_array_append_new(classes, json_from_class(&item->rows[i].figures));
		json_object_set_new(object, "classes", classes);
	}
	return json_print_line(object);
}

static void print_csv_titles(struct csv *csv)
{
	static const char *const titles[] = {"time",     "pid",    "uid",    "command",  "name",
					     "uptime_s", "silent", "age_ms", "rss_bytes"};

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		csv_text(csv, titles[i]);
	for (size_t i = 0; i < JSON_TOTALS; i++)
		csv_text(csv, json_totals[i].key);
	csv_end_line(csv);
}

static void print_csv(struct csv *csv, const struct target *target, uint64_t time_ms)
{
	char clock[32] = "", text[40];
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm parts;

	if (gmtime_r(&seconds, &parts))
		strftime(clock, sizeof(clock), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text, sizeof(text), "%s.%03uZ", clock, (unsigned)(time_ms % 1000));
	csv_text(csv, text);
	csv_u64(csv, target->pid);
	csv_u64(csv, target->uid);
	csv_text(csv, target->command);
	csv_text(csv, target->name);
	csv_u64(csv, target->uptime_s);
	csv_u64(csv, target->is_silent);
	if (target->has_figures)
		csv_u64(csv, target->age_ms);
	else
		csv_empty(csv);
	csv_u64(csv, target->rss_bytes);
	for (size_t i = 0; i < JSON_TOTALS; i++) {
		if (target->has_figures)
			csv_u64(csv, json_figure_of(&json_totals[i], &target->totals));
		else
			csv_empty(csv);
	}
	csv_end_line(csv);
}

static int print_item(struct stream *stream, const struct stats *item, uint64_t time_ms)
{
	struct csv csv = {.out = stdout};
	int status = 0;

	switch (stream->form) {
	case STREAM_JSON:
		status = print_json(stream, item, time_ms);
		break;
	case STREAM_CSV:
		if (stream->lines == 0)
			print_csv_titles(&csv);
		print_csv(&csv, &item->target, time_ms);
		break;
	case STREAM_PARTS:
		if (is_time_for_titles(stream))
			stream_parts_print_titles();
		stream_parts_print(stream, &item->target, time_ms);
		break;
	case STREAM_TABLE:
		if (is_time_for_titles(stream))
			printf("%-8s %8s %10s %10s %10s %10s  %s\n", "TIME", "PID", "HELD", "USED", "CACHED", "RSS",
			       "COMMAND");
		print_line(&item->target, time_ms);
		break;
	}
	stream->lines++;
	return status;
}

int stream_print(struct stream *stream, const struct round *round)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < round->count; i++)
		status = print_item(stream, &round->items[i], round->time_ms);
	return status ? status : output_flush();
}
