/*
 * What qad, or whoever sits in its place, sends qactl: each kind of answer is read from the frame, whatever it is, and
 * shown in every form.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "diagnosis.h"
#include "frame.h"
#include "json.h"
#include "map.h"
#include "protocol.h"
#include "read.h"
#include "stats_read.h"
#include "top/process.h"
#include "trim_table.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static FILE *out;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	out = fopen("/dev/null", "w");
	/* What it says of bad answers is not for the terminal either; libFuzzer's own words go to descriptor 2. */
	stdout = fopen("/dev/null", "w");
	stderr = fopen("/dev/null", "w");
	return out != NULL && stdout != NULL && stderr != NULL ? 0 : -1;
}

static void show_stats(const msgpack_object *body)
{
	struct stats stats;

	memset(&stats, 0, sizeof(stats));
	if (stats_read(body, &stats) == 0) {
		stats_print(out, &stats);
		diagnosis_print(out, &stats);
		json_decref(json_from_target(&stats.target));
	}
	stats_finish(&stats);
}

static void show_trim(const msgpack_object *body)
{
	struct qp_reader reader = qp_reader_of(body);
	struct trim trims[2];

	memset(trims, 0, sizeof(trims));
	trim_read(&reader, &trims[0]);
	if (reader.bad != NULL)
		return;
	trim_print(out, &trims[0]);
	json_decref(trim_to_json(&trims[0]));
	trim_print_table(out, trims, 1);
}

static void show_map(const msgpack_object *body)
{
	static const struct terminal terminal = {.columns = 80, .lines = 24, .is_utf8 = true};
	struct map map = {.count = 0};

	if (map_read(&map, body, 0) == 0) {
		map_print(out, &map, &terminal);
		json_decref(map_to_json(&map));
	}
	map_finish(&map);
}

static void show_list(const msgpack_object *body)
{
	struct qp_reader reader = qp_reader_of(body);
	size_t count;
	const msgpack_object *rows = qp_read_array(&reader, "targets", &count);

	for (size_t i = 0; i < count; i++) {
		struct qp_reader row = qp_reader_of(&rows[i]);
		struct target target;
		struct target_list list = {.items = &target, .count = 1};

		target_read(&row, &target);
		if (row.bad == NULL) {
			target_list_print(out, &list, true);
			target_list_print(out, &list, false);
		}
		target_finish(&target);
	}
}

/* As qactl top takes figures of all targets, twice, and the history of one. */
static void show_top(const msgpack_object *body)
{
	struct process_list list = {0};
	struct process process;
	int8_t levels[TREND_POINTS];
	const char *bad;

	process_list_take(&list, body, 1000000, &bad);
	process_list_take(&list, body, 1001000, &bad);
	process_list_finish(&list);
	memset(&process, 0, sizeof(process));
	process_take_history(&process, body, 1000000);
	for (int columns = 1; columns <= TREND_POINTS; columns++)
		trend_levels(&process.trend, TREND_HELD, 1000000, columns, levels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct qp_message message;
	size_t size;

	if (qp_frame_scan(data, bytes, QP_FRAME_ANSWER_BYTES, &size) != QP_FRAME_WHOLE ||
	    qp_message_decode(&message, data, size) != 0)
		return 0;
	answer_check(&message, "fuzz");
	answer_check(&message, NULL);
	show_stats(&message.body);
	show_trim(&message.body);
	show_list(&message.body);
	show_map(&message.body);
	show_top(&message.body);
	qp_message_finish(&message);
	return 0;
}
