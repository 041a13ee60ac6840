/*
 * A slot per kind holds the question on its way and two lists of waiters: those whose answer it is, and those who came
 * after it. An answer serves the first list; then the second one moves up and is asked. A late answer, whose
 * waiters all gave up, still ends the silence and refreshes the last figures.
 */
#include "question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "log.h"
#include "text.h"
#include "write.h"

/* Rows kept for showing them when the target is silent: more than a target has classes in use. */
#define KEPT_ROWS 64u
#define QUESTION_BYTES 256u

static struct deadline_queue *deadlines_of(struct questions *questions, enum question_kind kind)
{
	return kind == QUESTION_TRIM ? &questions->trim_deadlines : &questions->stats_deadlines;
}

static void call_all(struct questions *questions, struct list *waiters, const struct answer *answer)
{
	struct list now, *link;

	/* Their own list: who is called may ask again. */
	list_init(&now);
	list_append_all(&now, waiters);
	while ((link = list_take_first(&now)) != NULL) {
		struct waiter *waiter = LIST_OWNER(link, struct waiter, link);

		deadline_stop(deadlines_of(questions, waiter->kind), &waiter->deadline);
		waiter->on_answer(waiter, answer);
	}
}

static void on_due(struct deadline_queue *queue, struct deadline *entry)
{
	struct waiter *waiter = LIST_OWNER(entry, struct waiter, deadline);
	struct answer answer = {.outcome = ANSWER_TIMEOUT};

	(void)queue;
	list_remove(&waiter->link);
	waiter->target->is_silent = true;
	waiter->on_answer(waiter, &answer);
}

void questions_init(struct questions *questions, uv_loop_t *loop, struct log *log, const struct limits *limits)
{
	*questions = (struct questions){.loop = loop, .log = log};
	deadline_queue_init(&questions->stats_deadlines, loop, limits->stats_ms, on_due);
	deadline_queue_init(&questions->trim_deadlines, loop, limits->trim_ms, on_due);
}

void questions_close(struct questions *questions)
{
	deadline_queue_close(&questions->stats_deadlines);
	deadline_queue_close(&questions->trim_deadlines);
}

void question_init_target(struct target *target)
{
	for (int kind = 0; kind < QUESTION_KINDS; kind++) {
		list_init(&target->slots[kind].asked);
		list_init(&target->slots[kind].next);
	}
}

static void write_trim(struct qp_buffer *frame, uint32_t id, const struct trim_order *order)
{
	bool has_pool = order->pool[0] != '\0';

	qp_write_request(frame, id, "trim");
	qp_write_map(frame, (uint32_t)(order->block_size > 0) + has_pool + (order->keep_bytes > 0));
	if (order->block_size > 0)
		qp_write_key_u64(frame, "block_size", order->block_size);
	if (has_pool)
		qp_write_key_string(frame, "pool", order->pool);
	if (order->keep_bytes > 0)
		qp_write_key_u64(frame, "keep_bytes", order->keep_bytes);
}

static void write_map(struct qp_buffer *frame, uint32_t id)
{
	qp_write_request(frame, id, "map");
	qp_write_map(frame, 0);
}

static void write_stats(struct qp_buffer *frame, uint32_t id, enum question_kind kind)
{
	qp_write_request(frame, id, "stats");
	qp_write_map(frame, 2);
	qp_write_key_bool(frame, "classes", kind != QUESTION_TOTALS);
	qp_write_key_bool(frame, "all_classes", kind == QUESTION_ALL_CLASSES);
}

static uint64_t resident_bytes(const struct target *target)
{
	struct process_sample sample = {0};

	process_sample(&target->process, &sample);
	return sample.rss_bytes;
}

/* Moves those from next who want the same trim as the first of them. */
static void take_same_trims(struct question_slot *slot)
{
	const struct trim_order *order = LIST_OWNER(slot->next.next, struct waiter, link)->order;
	struct list *link = slot->next.next;

	slot->order = *order;
	slot->asked_by = 0;
	while (link != &slot->next) {
		struct waiter *waiter = LIST_OWNER(link, struct waiter, link);

		link = link->next;
		if (waiter->order->block_size != slot->order.block_size ||
		    waiter->order->keep_bytes != slot->order.keep_bytes ||
		    strcmp(waiter->order->pool, slot->order.pool) != 0)
			continue;
		list_remove(&waiter->link);
		list_append(&slot->asked, &waiter->link);
		slot->asked_by++;
	}
}

/* Asks for those in next, unless nobody is there or a question is on its way. */
static void ask_next(struct questions *questions, struct target *target, enum question_kind kind)
{
	struct question_slot *slot = &target->slots[kind];
	uint8_t memory[QUESTION_BYTES];
	struct qp_buffer frame;

	if (slot->is_asked || list_is_empty(&slot->next))
		return;
	slot->is_asked = true;
	slot->id = ++target->last_id;
	questions->asked++;

	/* Fixed memory that is large enough: this can not fail. A send that fails ends in question_on_gone. */
	qp_buffer_init_fixed(&frame, memory, sizeof(memory));
	if (kind == QUESTION_TRIM) {
		take_same_trims(slot);
		slot->rss_before_bytes = resident_bytes(target);
		write_trim(&frame, slot->id, &slot->order);
	} else {
		list_append_all(&slot->asked, &slot->next);
		if (kind == QUESTION_MAP)
			write_map(&frame, slot->id);
		else
			write_stats(&frame, slot->id, kind);
	}
	peer_send(target->peer, &frame);
}

void question_ask(struct questions *questions, struct target *target, enum question_kind kind, struct waiter *waiter)
{
	waiter->target = target;
	waiter->kind = kind;
	list_append(&target->slots[kind].next, &waiter->link);
	deadline_start(deadlines_of(questions, kind), &waiter->deadline);
	ask_next(questions, target, kind);
}

void question_forget(struct questions *questions, struct waiter *waiter)
{
	deadline_stop(deadlines_of(questions, waiter->kind), &waiter->deadline);
	list_remove(&waiter->link);
}

/* Takes over the rows: only those of classes that hold something, and without memory none. */
static void keep_figures(struct target *target, const struct figures *figures)
{
	size_t kept = 0;

	free(target->last.rows);
	target->last = *figures;
	target->last.row_count = 0;
	if (figures->rows == NULL)
		return;

	for (size_t i = 0; i < figures->row_count && kept < KEPT_ROWS; i++) {
		if (figures->rows[i].held_bytes > 0)
			figures->rows[kept++] = figures->rows[i];
	}
	target->last.rows = realloc(figures->rows, (kept > 0 ? kept : 1) * sizeof(*figures->rows));
	if (target->last.rows == NULL)
		target->last.rows = figures->rows;
	target->last.row_count = kept;
}

static void take_stats(struct questions *questions, struct target *target, enum question_kind kind,
		       const struct qp_message *message)
{
	struct figures figures = {.is_known = true, .at_ms = uv_now(questions->loop)};
	struct answer answer = {.outcome = ANSWER_FAILED};
	struct question_slot *slot = &target->slots[kind];

	if (!message->has_error && answer_read_figures(message, kind != QUESTION_TOTALS, &figures) == 0) {
		answer = (struct answer){.outcome = ANSWER_OK, .figures = &figures};
		target->last.totals = figures.totals; /* what `ps` shows, also from inside these calls */
		target->last.at_ms = figures.at_ms;
		target->last.is_known = true;
	}
	call_all(questions, &slot->asked, &answer);
	if (answer.outcome == ANSWER_OK)
		keep_figures(target, &figures);
}

/* Who trims only what is theirs could fill the disk by it: such lines are limited. */
static void log_trim(struct questions *questions, const struct target *target, const struct history_trim *record)
{
	const struct trim_order *order = &record->order;
	const struct identity *who = &target->peer->who;
	char part[QP_NAME_BYTES + 48] = "", text[512];

	if (order->pool[0] != '\0')
		snprintf(part, sizeof(part), ", pool %s", order->pool);
	else if (order->block_size > 0)
		snprintf(part, sizeof(part), ", blocks of %llu bytes", (unsigned long long)order->block_size);
	snprintf(text, sizeof(text), "trimmed %d of uid %u (%s%s) for uid %u, pid %d: %llu bytes came back in %llu us",
		 (int)who->pid, (unsigned)who->uid, target->process.command, part, (unsigned)order->uid,
		 (int)order->pid, (unsigned long long)record->returned_bytes, (unsigned long long)record->duration_us);
	if (order->uid == who->uid && order->uid != 0)
		log_deed(questions->log, record->at_ms, "%s", text);
	else
		log_write(questions->log, LOG_LEVEL_NOTICE, "%s", text);
}

/* A line in the log, and a record: who trimmed what, and what came back. */
static void note_trim(struct questions *questions, struct target *target, const struct qp_trim *trim,
		      uint64_t rss_after_bytes)
{
	const struct question_slot *slot = &target->slots[QUESTION_TRIM];
	struct history_trim record = {
		.at_ms = uv_now(questions->loop),
		.order = slot->order,
		.asked_by = slot->asked_by,
		.returned_bytes = trim->returned_bytes,
		.duration_us = trim->duration_us,
		.rss_before_bytes = slot->rss_before_bytes,
		.rss_after_bytes = rss_after_bytes,
	};

	/* The target was asked for the pool's name as it is; what is kept and shown is UTF-8. */
	text_repair(record.order.pool, sizeof(record.order.pool));
	questions->trims++;
	questions->trim_bytes += trim->returned_bytes;
	target->trims++;
	target->trim_bytes += trim->returned_bytes;
	log_trim(questions, target, &record);
	if (!history_add_trim(&target->history, &record))
		log_trouble(questions->log, uv_now(questions->loop), "out of memory: that trim is not in the history");
}

static void take_map(struct questions *questions, struct target *target, const struct qp_message *message)
{
	struct occupancy map = {0};
	struct answer answer = {.outcome = answer_outcome_of_error(message)};

	if (!message->has_error && answer_read_map(message, &map) == 0)
		answer = (struct answer){.outcome = ANSWER_OK, .map = &map};
	call_all(questions, &target->slots[QUESTION_MAP].asked, &answer);
	if (answer.outcome == ANSWER_OK)
		free(map.rows);
}

static void take_trim(struct questions *questions, struct target *target, const struct qp_message *message)
{
	struct question_slot *slot = &target->slots[QUESTION_TRIM];
	struct answer answer = {.outcome = answer_outcome_of_error(message)};
	struct qp_trim trim = {0};

	if (!message->has_error && answer_read_trim(message, &trim) == 0) {
		answer = (struct answer){
			.outcome = ANSWER_OK,
			.trim = &trim,
			.rss_before_bytes = slot->rss_before_bytes,
			.rss_after_bytes = resident_bytes(target),
		};
		note_trim(questions, target, &trim, answer.rss_after_bytes);
	}
	call_all(questions, &slot->asked, &answer);
}

void question_on_response(struct questions *questions, struct target *target, const struct qp_message *message)
{
	enum question_kind kind = 0;

	while (kind < QUESTION_KINDS && !(target->slots[kind].is_asked && target->slots[kind].id == message->id))
		kind++;
	if (kind == QUESTION_KINDS) {
		questions->stray_answers++;
		log_write(questions->log, LOG_LEVEL_DEBUG,
			  "target %d answered a question that waits no more (%llu such)", (int)target->peer->who.pid,
			  (unsigned long long)questions->stray_answers);
		return;
	}
	target->is_silent = false;
	target->slots[kind].is_asked = false;
	if (kind == QUESTION_TRIM)
		take_trim(questions, target, message);
	else if (kind == QUESTION_MAP)
		take_map(questions, target, message);
	else
		take_stats(questions, target, kind, message);
	ask_next(questions, target, kind);
}

void question_on_gone(struct questions *questions, struct target *target)
{
	struct answer answer = {.outcome = ANSWER_GONE};

	for (int kind = 0; kind < QUESTION_KINDS; kind++) {
		call_all(questions, &target->slots[kind].asked, &answer);
		call_all(questions, &target->slots[kind].next, &answer);
	}
	free(target->last.rows);
	target->last = (struct figures){.is_known = false};
	history_finish(&target->history);
}
