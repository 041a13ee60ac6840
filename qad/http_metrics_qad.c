/*
 * The same figures as those of `health`, as families.
 */
#include "http_metrics_qad.h"

#include "health.h"
#include "http_exposition.h"

#define HEALTH(member) offsetof(struct health, member)

static const struct metric build_metric = {"qad_build", METRIC_INFO, NULL, "The version of qad.", 0, 1};

static const struct metric metrics[] = {
	{"qad_uptime_seconds", METRIC_GAUGE, "seconds", "How long this qad runs.", HEALTH(uptime_s), 1},
	{"qad_rss_bytes", METRIC_GAUGE, "bytes", "Resident memory of qad.", HEALTH(rss_bytes), 1},
	{"qad_cpu_seconds", METRIC_COUNTER, "seconds", "Processor time that qad used.", HEALTH(cpu_us), 1000000},
	{"qad_targets", METRIC_GAUGE, NULL, "Processes on libqa that are connected.", HEALTH(targets), 1},
	{"qad_silent_targets", METRIC_GAUGE, NULL, "Those of them that did not answer in time.", HEALTH(silent_targets),
	 1},
	{"qad_clients", METRIC_GAUGE, NULL, "Clients on the socket.", HEALTH(clients), 1},
	{"qad_users", METRIC_GAUGE, NULL, "Users who have a connection to the socket.", HEALTH(users), 1},
	{"qad_watches", METRIC_GAUGE, NULL, "Watches of clients.", HEALTH(watches), 1},
	{"qad_history_bytes", METRIC_GAUGE, "bytes", "Memory for history.", HEALTH(history_bytes), 1},
	{"qad_short_of_descriptors", METRIC_GAUGE, NULL,
	 "Whether no connection can be accepted for want of descriptors.", HEALTH(is_short_of_descriptors), 1},
	{"qad_questions", METRIC_COUNTER, NULL, "Questions sent to targets.", HEALTH(questions), 1},
	{"qad_stray_answers", METRIC_COUNTER, NULL, "Answers of targets to no question.", HEALTH(stray_answers), 1},
	{"qad_trims", METRIC_COUNTER, NULL, "Trims that were done.", HEALTH(trims), 1},
	{"qad_returned_bytes", METRIC_COUNTER, "bytes", "Bytes that trims returned to the system.", HEALTH(trim_bytes),
	 1},
	{"qad_notifications", METRIC_COUNTER, NULL, "Notifications sent to clients that watch.", HEALTH(notifications),
	 1},
	{"qad_dropped_notifications", METRIC_COUNTER, NULL, "Those left out for clients that read slowly.",
	 HEALTH(dropped_notifications), 1},
	{"qad_dropped_peers", METRIC_COUNTER, NULL, "Connections that were ended for a fault of the peer.",
	 HEALTH(dropped_peers), 1},
	{"qad_http_connections", METRIC_GAUGE, NULL, "Connections over HTTP.", HEALTH(http_connections), 1},
	{"qad_http_memory_bytes", METRIC_GAUGE, "bytes", "Memory for answers over HTTP.", HEALTH(http_memory_bytes), 1},
	{"qad_http_requests", METRIC_COUNTER, NULL, "Requests over HTTP.", HEALTH(http_requests), 1},
	{"qad_http_refused", METRIC_COUNTER, NULL, "Those of them that got an error.", HEALTH(http_refused), 1},
	{"qad_http_timeouts", METRIC_COUNTER, NULL, "Connections over HTTP that were ended because a time was over.",
	 HEALTH(http_timeouts), 1},
	{"qad_http_scrapes", METRIC_COUNTER, NULL, "Answers to requests for these metrics, before this one.",
	 HEALTH(http_scrapes), 1},
	{"qad_http_rounds", METRIC_COUNTER, NULL, "How often all targets were asked for readers over HTTP.",
	 HEALTH(http_rounds), 1},
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
