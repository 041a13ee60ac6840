/*
 * What qad, or whoever sits in its place, sends a target: every whole frame of the input goes to the agent's answers,
 * with figures made up here. What it answers must be one whole message that qad understands.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent_answer.h"
#include "frame.h"
#include "options.h"
#include "protocol.h"
#include "qa.h"
#include "read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { ROWS = 40 };

static void check(int holds)
{
	if (!holds)
		abort();
}

const char *qa_version(void)
{
	return "0";
}

const char *options_name(void)
{
	return "";
}

size_t qa_stats(struct qa_stats *stats, struct qa_class_stats *classes, size_t capacity)
{
	memset(stats, 7, sizeof(*stats));
	for (size_t i = 0; i < ROWS && i < capacity; i++) {
		memset(&classes[i], (int)i, sizeof(classes[i]));
		classes[i].name[0] = '\0';
	}
	return ROWS;
}

size_t qa_map(struct qa_class_map *maps, size_t capacity)
{
	for (size_t i = 0; i < ROWS && i < capacity; i++) {
		memset(&maps[i], (int)i, sizeof(maps[i]));
		maps[i].name[0] = '\0';
	}
	return ROWS;
}

int qa_trim(const struct qa_trim_options *options, struct qa_trim_result *result)
{
	check(options->size == sizeof(*options) && options->flags == 0);
	check(options->pool == NULL || strlen(options->pool) < QA_CLASS_NAME_SIZE);
	memset(result, 1, sizeof(*result));
	if (options->pool != NULL && options->block_size != 0)
		return -EINVAL;
	return options->block_size % 8 == 0 ? 0 : -ENOENT;
}

static void check_answer(const struct qp_buffer *out)
{
	struct qp_message message;
	size_t size = 0;

	check(!out->failed);
	if (out->used_bytes == 0)
		return;
	check(qp_frame_scan(out->data, out->used_bytes, QP_FRAME_TARGET_BYTES, &size) == QP_FRAME_WHOLE);
	check(size == out->used_bytes);
	check(qp_message_decode(&message, out->data, size) == 0 && message.kind == QP_RESPONSE);
	qp_message_finish(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static uint8_t out_memory[QP_QUEUE_TARGET_BYTES];
	size_t scratch_bytes = QP_MESSAGE_MEMORY((size_t)QP_FRAME_CLIENT_BYTES), size, used;
	void *scratch = malloc(scratch_bytes);

	check(scratch != NULL);
	for (size_t at = 0; at < bytes; at += size) {
		struct qp_buffer out;

		if (qp_frame_scan(data + at, bytes - at, QP_FRAME_CLIENT_BYTES, &size) != QP_FRAME_WHOLE)
			break;
		qp_buffer_init_fixed(&out, out_memory, sizeof(out_memory));
		enum agent_answer answer = agent_answer_frame(&out, data + at, size, scratch, scratch_bytes, &used);
		check(used <= scratch_bytes);
		check(answer != AGENT_ANSWER_GIVEN || out.used_bytes > 0);
		check_answer(&out);
	}
	free(scratch);
	return 0;
}
