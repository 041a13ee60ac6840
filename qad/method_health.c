/*
 * health: how qad itself is. Anybody who may connect may ask; it tells nothing about single targets.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "describe.h"
#include "methods.h"
#include "write.h"

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

struct sums {
	uint64_t silent, history_bytes;
};

static struct sums sum_targets(const struct registry *registry)
{
	struct sums sums = {0};

	for (size_t i = 0; i < registry->count; i++) {
		sums.silent += registry->targets[i]->is_silent;
		sums.history_bytes += history_bytes(&registry->targets[i]->history);
	}
	return sums;
}

static size_t count_watches(const struct watching *watching)
{
	size_t count = 0;

	for (const struct list *link = watching->all.next; link != &watching->all; link = link->next)
		count++;
	return count;
}

static void write_limits(struct qp_buffer *out, const struct limits *limits)
{
	struct limit_range range;
	uint64_t value;
	const char *name;

	qp_write_string(out, "limits");
	qp_write_map(out, (uint32_t)limits_count());
	for (size_t i = 0; (name = limits_at(limits, i, &value, &range)) != NULL; i++)
		qp_write_key_u64(out, name, value);
}

void describe_health(struct qp_buffer *out, const struct service *service)
{
	struct sums sums = sum_targets(&service->registry);

	qp_write_map(out, 23);
	qp_write_key_string(out, "version", QA_VERSION_TEXT);
	qp_write_key_u64(out, "pid", (uint64_t)getpid());
	qp_write_key_u64(out, "uptime_s", (uv_now(service->loop) - service->started_ms) / 1000);
	qp_write_key_u64(out, "rss_bytes", own_rss_bytes());
	qp_write_key_u64(out, "cpu_us", own_cpu_us());
	qp_write_key_u64(out, "targets", service->registry.count);
	qp_write_key_u64(out, "silent_targets", sums.silent);
	qp_write_key_u64(out, "clients", service->clients);
	qp_write_key_u64(out, "before_hello", service->peers->before_hello);
	qp_write_key_u64(out, "users", account_count(&service->peers->accounts));
	qp_write_key_u64(out, "questions", service->questions.asked);
	qp_write_key_u64(out, "stray_answers", service->questions.stray_answers);
	qp_write_key_u64(out, "trims", service->questions.trims);
	qp_write_key_u64(out, "trim_bytes", service->questions.trim_bytes);
	qp_write_key_u64(out, "watches", count_watches(&service->watching));
	qp_write_key_u64(out, "notifications", service->watching.notifications);
	qp_write_key_u64(out, "dropped_notifications", service->watching.dropped);
	qp_write_key_u64(out, "dropped_peers", service->peers->dropped);
	qp_write_key_u64(out, "history_bytes", sums.history_bytes);
	qp_write_key_bool(out, "records_all", service->watching.is_recording);
	qp_write_key_bool(out, "is_short_of_descriptors", service->peers->is_short);
	qp_write_key_bool(out, "http_allows_trim", service->http.allows_trim);
	write_limits(out, service->limits);
}

void method_health(struct client *client, uint32_t id, struct qp_reader *params)
{
	struct qp_buffer *out = service_begin_frame(client->service);

	(void)params;
	qp_write_result(out, id);
	describe_health(out, client->service);
	service_send_frame(client, id);
}
