/*
 * Most of it is counted where it happens; what is not is found here by a walk over the targets.
 */
#include "health.h"

#include <sys/resource.h>
#include <unistd.h>

#include "service.h"

#define KEY(member)                                                        \
	{                                                                  \
#member, offsetof(struct health, member), .is_bool = false \
	}
#define KEY_BOOL(member)                                                  \
	{                                                                 \
#member, offsetof(struct health, member), .is_bool = true \
	}

static const struct health_key keys[] = {
	KEY(pid),
	KEY(uptime_s),
	KEY(rss_bytes),
	KEY(cpu_us),
	KEY(targets),
	KEY(silent_targets),
	KEY(clients),
	KEY(before_hello),
	KEY(users),
	KEY(questions),
	KEY(stray_answers),
	KEY(trims),
	KEY(trim_bytes),
	KEY(watches),
	KEY(notifications),
	KEY(dropped_notifications),
	KEY(dropped_peers),
	KEY(history_bytes),
	KEY_BOOL(records_all),
	KEY_BOOL(is_short_of_descriptors),
	KEY_BOOL(http_on),
	KEY_BOOL(http_allows_trim),
	KEY(http_connections),
	KEY(http_memory_bytes),
	KEY(http_requests),
	KEY(http_refused),
	KEY(http_timeouts),
	KEY(http_scrapes),
	KEY(http_rounds),
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };
_Static_assert(sizeof(struct health) == KEYS * sizeof(uint64_t), "each value has a key");

static uint64_t own_rss_bytes(void)
{
	struct process own;
	struct process_sample sample = {0};

	if (process_init(&own, getpid(), false) != 0)
		return 0;
	process_sample(&own, &sample);
	process_finish(&own);
	return sample.rss_bytes;
}

static uint64_t own_cpu_us(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static size_t count_watches(const struct watching *watching)
{
	size_t count = 0;

	for (const struct list *link = watching->all.next; link != &watching->all; link = link->next)
		count++;
	return count;
}

static void sum_targets(const struct registry *registry, struct health *health)
{
	health->targets = registry->count;
	for (size_t i = 0; i < registry->count; i++) {
		health->silent_targets += registry->targets[i]->is_silent;
		health->history_bytes += history_bytes(&registry->targets[i]->history);
	}
}

static void take_http(const struct http_counters *http, struct health *health)
{
	health->http_on = http->is_on;
	health->http_allows_trim = http->allows_trim;
	health->http_connections = http->connections;
	health->http_memory_bytes = http->memory_bytes;
	health->http_requests = http->requests;
	health->http_refused = http->refused;
	health->http_timeouts = http->timeouts;
	health->http_scrapes = http->scrapes;
	health->http_rounds = http->rounds;
}

void health_gather(const struct service *service, struct health *health)
{
	*health = (struct health){
		.pid = (uint64_t)getpid(),
		.uptime_s = (uv_now(service->loop) - service->started_ms) / 1000,
		.rss_bytes = own_rss_bytes(),
		.cpu_us = own_cpu_us(),
		.clients = service->clients,
		.before_hello = service->peers->before_hello,
		.users = account_count(&service->peers->accounts),
		.questions = service->questions.asked,
		.stray_answers = service->questions.stray_answers,
		.trims = service->questions.trims,
		.trim_bytes = service->questions.trim_bytes,
		.watches = count_watches(&service->watching),
		.notifications = service->watching.notifications,
		.dropped_notifications = service->watching.dropped,
		.dropped_peers = service->peers->dropped,
		.records_all = service->watching.is_recording,
		.is_short_of_descriptors = service->peers->is_short,
	};
	sum_targets(&service->registry, health);
	take_http(&service->http, health);
}

const struct health_key *health_key_at(size_t number)
{
	return number < KEYS ? &keys[number] : NULL;
}

size_t health_keys(void)
{
	return KEYS;
}

uint64_t health_value(const struct health *health, const struct health_key *key)
{
	return *(const uint64_t *)(const void *)((const char *)health + key->offset);
}
