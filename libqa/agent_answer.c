/*
 * A request is decoded into scratch memory, what matters of it is copied, and only then is it answered: so the rows of
 * the statistics can lie in the same memory. Answers that do not fit the buffer become the error "failed".
 */
#include "agent_answer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "options.h"
#include "protocol.h"
#include "qa.h"
#include "read.h"
#include "write.h"

_Static_assert(QA_TENTHS == QP_TENTHS, "tenths are tenths");
_Static_assert(QA_CLASS_NAME_SIZE == QP_NAME_BYTES + 1, "the names of pools fit");

struct request {
	uint32_t id;
	char method[sizeof(((struct qp_message *)0)->method)];
	bool classes, all_classes;
	bool has_pool;
	char pool[QP_NAME_BYTES + 1];
	uint64_t block_size, keep_bytes;
	const char *bad; /* the key that is wrong, or NULL */
};

struct scratch {
	void *data;
	size_t bytes;
	size_t used;
};

void agent_answer_hello(struct qp_buffer *out)
{
	qp_write_request(out, AGENT_HELLO_ID, "hello");
	qp_write_map(out, 5);
	qp_write_key_u64(out, "protocol", QP_PROTOCOL);
	qp_write_key_string(out, "role", "target");
	qp_write_key_string(out, "version", qa_version());
	qp_write_key_string(out, "name", options_name());
	qp_write_key_u64(out, "pid", (uint64_t)getpid());
}

static bool is_shown(const struct qa_class_stats *row, bool all_classes)
{
	return all_classes || row->held_bytes > 0;
}

static void write_row(struct qp_buffer *out, const struct qa_class_stats *row)
{
	struct qp_class figures = {
		.block_size = row->block_size,
		.pages = row->pages,
		.held_bytes = row->held_bytes,
		.used_bytes = row->used_bytes,
		.cached_bytes = row->cached_bytes,
		.thread_bytes = row->thread_bytes,
		.partial_bytes = row->partial_bytes,
		.empty_bytes = row->empty_bytes,
		.slack_bytes = row->slack_bytes,
		.used_blocks = row->used_blocks,
		.allocs = row->allocs,
		.frees = row->frees,
	};

	memcpy(figures.name, row->name, sizeof(figures.name));
	qp_write_class(out, &figures);
}

static void write_rows(struct qp_buffer *out, const struct qa_class_stats *rows, size_t count, bool all_classes)
{
	uint32_t shown = 0;

	for (size_t i = 0; i < count && shown < QP_ARRAY_ELEMENTS; i++)
		shown += is_shown(&rows[i], all_classes);
	qp_write_string(out, "classes");
	qp_write_array(out, shown);
	for (size_t i = 0; shown > 0; i++) {
		if (!is_shown(&rows[i], all_classes))
			continue;
		write_row(out, &rows[i]);
		shown--;
	}
}

static void answer_stats(struct qp_buffer *out, const struct request *request, struct scratch *scratch)
{
	struct qa_class_stats *rows = scratch->data;
	struct qa_stats stats;
	size_t capacity = request->classes ? scratch->bytes / sizeof(*rows) : 0;
	size_t count = qa_stats(&stats, capacity > 0 ? rows : NULL, capacity);
	struct qp_totals totals = {
		.page_size = stats.page_size,
		.threads = stats.threads,
		.held_bytes = stats.held_bytes,
		.used_bytes = stats.used_bytes,
		.cached_bytes = stats.cached_bytes,
		.thread_bytes = stats.thread_bytes,
		.partial_bytes = stats.partial_bytes,
		.empty_bytes = stats.empty_bytes,
		.slack_bytes = stats.slack_bytes,
		.unreachable_bytes = stats.unreachable_bytes,
		.allocs = stats.allocs,
		.frees = stats.frees,
	};

	if (count > capacity)
		count = capacity;
	if (count * sizeof(*rows) > scratch->used)
		scratch->used = count * sizeof(*rows);
	qp_write_result(out, request->id);
	qp_write_map(out, QP_TOTALS_PAIRS + (request->classes ? 1 : 0));
	qp_write_totals(out, &totals);
	if (request->classes)
		write_rows(out, rows, count, request->all_classes);
}

static void write_maps(struct qp_buffer *out, const struct qa_class_map *maps, size_t count)
{
	uint32_t shown = 0;

	for (size_t i = 0; i < count; i++)
		shown += maps[i].pages + maps[i].empty_pages > 0;
	qp_write_string(out, "classes");
	qp_write_array(out, shown);
	for (size_t i = 0; i < count; i++) {
		struct qp_class_map map = {
			.block_size = maps[i].block_size, .pages = maps[i].pages, .empty_pages = maps[i].empty_pages};

		if (maps[i].pages + maps[i].empty_pages == 0)
			continue;
		memcpy(map.name, maps[i].name, sizeof(map.name));
		memcpy(map.tenth_pages, maps[i].tenth_pages, sizeof(map.tenth_pages));
		memcpy(map.tenth_out_bytes, maps[i].tenth_out_bytes, sizeof(map.tenth_out_bytes));
		memcpy(map.tenth_free_bytes, maps[i].tenth_free_bytes, sizeof(map.tenth_free_bytes));
		qp_write_class_map(out, &map);
	}
}

static void answer_map(struct qp_buffer *out, const struct request *request, struct scratch *scratch)
{
	struct qa_class_map *maps = scratch->data;
	size_t capacity = scratch->bytes / sizeof(*maps), count = qa_map(maps, capacity);
	struct qa_stats stats;

	if (count > capacity)
		count = capacity;
	if (count * sizeof(*maps) > scratch->used)
		scratch->used = count * sizeof(*maps);
	qa_stats(&stats, NULL, 0);
	qp_write_result(out, request->id);
	qp_write_map(out, 2);
	qp_write_key_u64(out, "page_size", stats.page_size);
	write_maps(out, maps, count);
}

static void answer_trim(struct qp_buffer *out, const struct request *request)
{
	struct qa_trim_options options = {
		.size = sizeof(options),
		.block_size = request->block_size,
		.pool = request->has_pool ? request->pool : NULL,
		.keep_bytes = request->keep_bytes,
	};
	struct qa_trim_result result = {0};
	int error = qa_trim(&options, &result);

	if (error == -ENOENT)
		qp_write_error(out, request->id, "no_class", "There is no such size class or pool.");
	else if (error == -EINVAL)
		qp_write_error(out, request->id, "bad_request", "A trim is of one class or of one pool, not of both.");
	else if (error != 0)
		qp_write_error(out, request->id, "failed", "The target's libqa refused to trim.");
	if (error != 0)
		return;

	struct qp_trim trim = {
		.returned_bytes = result.returned_bytes,
		.held_before_bytes = result.held_before_bytes,
		.held_after_bytes = result.held_after_bytes,
		.cached_before_bytes = result.cached_before_bytes,
		.cached_after_bytes = result.cached_after_bytes,
		.duration_us = result.duration_us,
		.threads_skipped = result.threads_skipped,
	};
	qp_write_result(out, request->id);
	qp_write_map(out, QP_TRIM_PAIRS);
	qp_write_trim(out, &trim);
}

static void answer(struct qp_buffer *out, const struct request *request, struct scratch *scratch)
{
	if (request->method[0] == '\0') {
		qp_write_error(out, request->id, "bad_request", "The method is not a string.");
	} else if (request->bad != NULL) {
		qp_write_error(out, request->id, "bad_request", "A parameter has the wrong type.");
	} else if (strcmp(request->method, "stats") == 0) {
		answer_stats(out, request, scratch);
	} else if (strcmp(request->method, "trim") == 0) {
		answer_trim(out, request);
	} else if (strcmp(request->method, "map") == 0) {
		answer_map(out, request, scratch);
	} else {
		qp_write_error(out, request->id, "unknown_method", "A target answers stats, map and trim only.");
	}
	if (out->failed) {
		qp_buffer_reset(out);
		qp_write_error(out, request->id, "failed", "The answer is larger than a target may send.");
	}
}

static enum agent_answer take_response(const struct qp_message *message)
{
	if (message->id != AGENT_HELLO_ID)
		return AGENT_ANSWER_NONE;
	return message->has_error ? AGENT_ANSWER_DROP : AGENT_ANSWER_WELCOME;
}

enum agent_answer agent_answer_frame(struct qp_buffer *out, const uint8_t *frame, size_t frame_bytes,
				     void *scratch_data, size_t scratch_bytes, size_t *scratch_used)
{
	struct scratch scratch = {scratch_data, scratch_bytes, QP_MESSAGE_MEMORY(frame_bytes)};
	struct qp_message message;
	struct request request = {0};
	enum agent_answer outcome = AGENT_ANSWER_NONE;

	*scratch_used = 0;
	if (qp_message_decode_in(&message, frame, frame_bytes, scratch_data, scratch_bytes) != 0)
		return AGENT_ANSWER_DROP;
	if (message.kind == QP_RESPONSE)
		outcome = take_response(&message);
	if (message.kind == QP_REQUEST) {
		struct qp_reader reader = qp_reader_of(&message.body);

		request.id = message.id;
		memcpy(request.method, message.method, sizeof(request.method));
		request.classes = qp_read_bool_or(&reader, "classes", false);
		request.all_classes = qp_read_bool_or(&reader, "all_classes", false);
		request.block_size = qp_read_u64_or(&reader, "block_size", 0);
		request.has_pool = qp_read_value(&reader, "pool") != NULL;
		qp_read_string_or(&reader, "pool", request.pool, sizeof(request.pool), "");
		request.keep_bytes = qp_read_u64_or(&reader, "keep_bytes", 0);
		request.bad = reader.bad;
		outcome = AGENT_ANSWER_GIVEN;
	}
	qp_message_finish(&message);

	if (outcome == AGENT_ANSWER_GIVEN)
		answer(out, &request, &scratch);
	*scratch_used = scratch.used;
	return outcome;
}
