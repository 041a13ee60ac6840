/*
 * One table of what is told, as text and as JSON.
 */
#include "load.h"

#include <stdio.h>

static double us(const struct histogram *histogram, double share)
{
	return (double)histogram_quantile_ns(histogram, share) / 1000;
}

void load_report(const struct load_options *options, const struct load_measured *measured)
{
	double seconds = (double)measured->spent_ns / 1e9;
	double cpu = (double)(measured->after.cpu_us - measured->before.cpu_us) / 1e4 / seconds;
	int64_t grown = (int64_t)measured->after.rss_bytes - (int64_t)measured->empty.rss_bytes -
			(int64_t)measured->history_bytes;
	double per_target = (double)grown / options->targets;
	double history = (double)measured->history_bytes / options->targets;
	double http_bytes =
		measured->http_answers > 0 ? (double)measured->http_bytes / (double)measured->http_answers : 0;
	const struct {
		const char *key, *text;
		double value;
		int digits;
	} rows[] = {
		{"targets", "targets", options->targets, 0},
		{"clients", "clients that watch all", options->clients, 0},
		{"rate_hz", "a second", options->rate_hz, 3},
		{"seconds", "seconds measured", seconds, 1},
		{"cpu_percent", "% of a core", cpu, 2},
		{"rss_bytes", "bytes resident", (double)measured->after.rss_bytes, 0},
		{"bytes_per_target", "bytes a target, besides history", per_target, 0},
		{"history_bytes_per_target", "bytes of history a target", history, 0},
		{"stats_count", "stats", (double)measured->stats.count, 0},
		{"stats_p50_us", "us stats, p50", us(&measured->stats, 0.5), 1},
		{"stats_p99_us", "us stats, p99", us(&measured->stats, 0.99), 1},
		{"stats_p999_us", "us stats, p99.9", us(&measured->stats, 0.999), 1},
		{"ps_p50_us", "us ps of all, p50", us(&measured->ps, 0.5), 1},
		{"ps_max_us", "us ps of all, longest", (double)measured->ps.max_ns / 1000, 1},
		{"http_readers", "readers over HTTP", options->http, 0},
		{"http_answers", "answers over HTTP", (double)measured->http_answers, 0},
		{"http_bytes", "bytes an answer over HTTP", http_bytes, 0},
		{"http_p50_us", "us an answer over HTTP, p50", us(&measured->http, 0.5), 1},
		{"http_p99_us", "us an answer over HTTP, p99", us(&measured->http, 0.99), 1},
		{"http_max_us", "us an answer over HTTP, longest", (double)measured->http.max_ns / 1000, 1},
		{"http_rounds", "rounds of questions for HTTP", (double)measured->http_rounds, 0},
		{"questions", "questions to targets", (double)measured->questions, 0},
		{"notifications", "notifications received", (double)measured->notifications, 0},
		{"dropped_notifications", "notifications left out", (double)measured->dropped_notifications, 0},
		{"dropped_peers", "connections dropped for a fault", (double)measured->dropped_peers, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (options->is_json)
			printf("%s\"%s\": %.*f", i == 0 ? "{" : ", ", rows[i].key, rows[i].digits, rows[i].value);
		else
			printf("%12.*f  %s\n", rows[i].digits, rows[i].value, rows[i].text);
	}
	if (options->is_json)
		puts("}");
}
