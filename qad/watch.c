/*
 * The watches, and what the layers above and below tell of clients and targets.
 */
#include "watch.h"

#include <stdlib.h>

#include "service.h"
#include "watch_body.h"
#include "watch_core.h"

void watching_init(struct watching *watching, struct service *service, bool is_recording)
{
	*watching = (struct watching){.service = service, .is_recording = is_recording};
	list_init(&watching->all);
	uv_timer_init(service->loop, &watching->timer);
	watching->timer.data = watching;
	if (is_recording)
		watch_set_timer(watching);
}

void watching_close(struct watching *watching)
{
	watching->is_recording = false;
	uv_close((uv_handle_t *)&watching->timer, NULL);
}

uint32_t watching_add(struct watching *watching, struct client *client, const struct watch_order *order)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (watch == NULL)
		return 0;
	watch->client = client;
	watch->order = *order;
	if (order->pid != 0)
		watch->start_ticks = registry_find(&watching->service->registry, order->pid)->process.start_ticks;
	if (++watching->last_id == 0)
		watching->last_id = 1;
	watch->id = watching->last_id;
	watch->due_ms = uv_now(watching->timer.loop);
	list_append(&watching->all, &watch->link);
	list_init(&watch->of_client);
	list_append(&client->watches, &watch->of_client);
	client->watch_count++;
	client->peer->account->watches++;
	watch_set_timer(watching);
	return watch->id;
}

static void after_removal(struct watching *watching)
{
	if (list_is_empty(&watching->all))
		watch_forget_body(watching);
	watch_set_timer(watching);
}

bool watching_remove(struct watching *watching, struct client *client, uint32_t id)
{
	for (struct list *link = client->watches.next; link != &client->watches; link = link->next) {
		struct watch *watch = LIST_OWNER(link, struct watch, of_client);

		if (watch->id != id)
			continue;
		watch_destroy(watch);
		after_removal(watching);
		return true;
	}
	return false;
}

void watching_remove_all(struct watching *watching, struct client *client)
{
	if (list_is_empty(&client->watches))
		return;
	while (!list_is_empty(&client->watches))
		watch_destroy(LIST_OWNER(client->watches.next, struct watch, of_client));
	after_removal(watching);
}

void watching_on_drained(struct watching *watching, struct client *client)
{
	struct list *link = client->watches.next;

	while (link != &client->watches) {
		struct watch *watch = LIST_OWNER(link, struct watch, of_client);

		link = link->next;
		if (watch->is_owed)
			watch_notify(watching, watch);
	}
	watch_rest_body(watching);
}

void watching_on_target(struct watching *watching, struct target *target)
{
	target->watching = watching;
}

void watching_on_gone(struct watching *watching, struct target *target)
{
	pid_t pid = target->peer->who.pid;
	struct list *link = watching->all.next;

	while (link != &watching->all) {
		struct watch *watch = LIST_OWNER(link, struct watch, link);

		link = link->next;
		if (watch->order.pid == pid && watch_target(watch) == NULL)
			watch_end(watch, "gone", "the target ended, or its agent was stopped");
	}
}
