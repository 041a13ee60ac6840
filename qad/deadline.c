/*
 * The timer is set for the entry at the head. When that entry is stopped, the timer is left as it is: it fires early at
 * most once, finds nothing due, and is set for the new head.
 */
#include "deadline.h"

static void on_timer(uv_timer_t *timer);

static void set_timer(struct deadline_queue *queue)
{
	if (list_is_empty(&queue->entries))
		return;

	struct deadline *head = LIST_OWNER(queue->entries.next, struct deadline, link);
	uint64_t now_ms = uv_now(queue->timer.loop);
	uv_timer_start(&queue->timer, on_timer, head->due_ms > now_ms ? head->due_ms - now_ms : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct deadline_queue *queue = timer->data;
	uint64_t now_ms = uv_now(timer->loop);

	while (!list_is_empty(&queue->entries)) {
		struct deadline *head = LIST_OWNER(queue->entries.next, struct deadline, link);

		if (head->due_ms > now_ms)
			break;
		list_remove(&head->link);
		queue->on_due(queue, head);
	}
	set_timer(queue);
}

void deadline_queue_init(struct deadline_queue *queue, uv_loop_t *loop, uint64_t time_ms,
			 void (*on_due)(struct deadline_queue *, struct deadline *))
{
	/* Never fails: it only fills the struct. */
	uv_timer_init(loop, &queue->timer);
	queue->timer.data = queue;
	list_init(&queue->entries);
	queue->time_ms = time_ms;
	queue->on_due = on_due;
}

void deadline_queue_close(struct deadline_queue *queue)
{
	uv_close((uv_handle_t *)&queue->timer, NULL);
}

void deadline_init(struct deadline *entry)
{
	list_init(&entry->link);
	entry->due_ms = 0;
}

void deadline_start(struct deadline_queue *queue, struct deadline *entry)
{
	bool was_empty = list_is_empty(&queue->entries);

	entry->due_ms = uv_now(queue->timer.loop) + queue->time_ms;
	list_append(&queue->entries, &entry->link);
	if (was_empty)
		set_timer(queue);
}

void deadline_stop(struct deadline_queue *queue, struct deadline *entry)
{
	list_remove(&entry->link);
	if (list_is_empty(&queue->entries))
		uv_timer_stop(&queue->timer);
}
