/*
 * The same figures as those of `health`, as families.
 */
#include "http_metrics_qad.h"

#include "health.h"
#include "http_exposition.h"

#define HEALTH(member) offsetof(struct health, member)

static const struct metric build_metric = {"qad_build", METRIC_INFO, 1, NULL, "The version of qad.", 0};

static const struct metric metrics[] = {
	{"qad_uptime_seconds", METRIC_GAUGE, 1, "seconds", "How long this qad runs.", HEALTH(uptime_s)},
	{"qad_rss_bytes", METRIC_GAUGE, 1, "bytes", "Resident memory of qad.", HEALTH(rss_bytes)},
	{"qad_cpu_seconds", METRIC_COUNTER, 1000000, "seconds", "Processor time that qad used.", HEALTH(cpu_us)},
	{"qad_targets", METRIC_GAUGE, 1, NULL, "Processes on libqa that are connected.", HEALTH(targets)},
	{"qad_silent_targets", METRIC_GAUGE, 1, NULL, "Those of them that did not answer in time.",
	 HEALTH(silent_targets)},
	{"qad_clients", METRIC_GAUGE, 1, NULL, "Clients on the socket.", HEALTH(clients)},
	{"qad_users", METRIC_GAUGE, 1, NULL, "Users who have a connection to the socket.", HEALTH(users)},
	{"qad_watches", METRIC_GAUGE, 1, NULL, "Watches of clients.", HEALTH(watches)},
	{"qad_history_bytes", METRIC_GAUGE, 1, "bytes", "Memory for history.", HEALTH(history_bytes)},
	{"qad_short_of_descriptors", METRIC_GAUGE, 1, NULL,
	 "Whether no connection can be accepted for want of descriptors.", HEALTH(is_short_of_descriptors)},
	{"qad_questions", METRIC_COUNTER, 1, NULL, "Questions sent to targets.", HEALTH(questions)},
	{"qad_stray_answers", METRIC_COUNTER, 1, NULL, "Answers of targets to no question.", HEALTH(stray_answers)},
	{"qad_trims", METRIC_COUNTER, 1, NULL, "Trims that were done.", HEALTH(trims)},
	{"qad_returned_bytes", METRIC_COUNTER, 1, "bytes", "Bytes that trims returned to the system.",
	 HEALTH(trim_bytes)},
	{"qad_notifications", METRIC_COUNTER, 1, NULL, "Notifications sent to clients that watch.",
	 HEALTH(notifications)},
	{"qad_dropped_notifications", METRIC_COUNTER, 1, NULL, "Those left out for clients that read slowly.",
	 HEALTH(dropped_notifications)},
	{"qad_dropped_peers", METRIC_COUNTER, 1, NULL, "Connections that were ended for a fault of the peer.",
	 HEALTH(dropped_peers)},
	{"qad_http_connections", METRIC_GAUGE, 1, NULL, "Connections over HTTP.", HEALTH(http_connections)},
	{"qad_http_memory_bytes", METRIC_GAUGE, 1, "bytes", "Memory for answers over HTTP.", HEALTH(http_memory_bytes)},
	{"qad_http_requests", METRIC_COUNTER, 1, NULL, "Requests over HTTP.", HEALTH(http_requests)},
	{"qad_http_refused", METRIC_COUNTER, 1, NULL, "Those of them that got an error.", HEALTH(http_refused)},
	{"qad_http_timeouts", METRIC_COUNTER, 1, NULL, "Connections over HTTP that were ended because a time was over.",
	 HEALTH(http_timeouts)},
	{"qad_http_scrapes", METRIC_COUNTER, 1, NULL, "Answers to requests for these metrics, before this one.",
	 HEALTH(http_scrapes)},
	{"qad_http_rounds", METRIC_COUNTER, 1, NULL, "How often all targets were asked for readers over HTTP.",
	 HEALTH(http_rounds)},
};

void metrics_write_qad(struct qp_buffer *out, const struct service *service, bool is_openmetrics)
{
	static const char version[] = "version=\"" QA_VERSION_TEXT "\"";
	struct health health;

	health_gather(service, &health);
	metric_write_head(out, &build_metric, is_openmetrics);
	metric_write_sample(out, &build_metric, version, sizeof(version) - 1, 1);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		uint64_t value = *(const uint64_t *)(const void *)((const char *)&health + metrics[i].offset);

		metric_write_head(out, &metrics[i], is_openmetrics);
		metric_write_sample(out, &metrics[i], "", 0, value);
	}
}
