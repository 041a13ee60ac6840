/*
 * /metrics: what all targets have, and how qad itself is. What is told of a process is gathered into one struct and its
 * labels are made once; then each family is one walk over those. Rows of classes are told only when they are asked for:
 * a process has tens of them.
 */
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "http_exposition.h"
#include "http_handlers.h"
#include "http_metrics_qad.h"

struct process_values {
	struct qp_totals totals;
	uint64_t rss_bytes, age_ms, is_silent, trims, returned_bytes, one;
};

/* One process, with its labels in the shared buffer of them: those of all its samples, and those of its info. */
struct process_row {
	const struct target *target;
	size_t labels_at, labels_bytes, info_at, info_bytes;
	struct process_values values;
};

struct processes {
	struct process_row *rows;
	size_t count;
	struct qp_buffer labels;
};

#define PROCESS(member) offsetof(struct process_values, member)
#define CLASS(member) offsetof(struct qp_class, member)

/* What is there also of a process that never answered. */
static const struct metric known_metrics[] = {
	{"qa_process_rss_bytes", METRIC_GAUGE, 1, "bytes", "Resident memory of the process.", PROCESS(rss_bytes)},
	{"qa_process_silent", METRIC_GAUGE, 1, NULL,
	 "Whether a question to the process is unanswered past its deadline: its figures are then its last ones.",
	 PROCESS(is_silent)},
	{"qa_process_trims", METRIC_COUNTER, 1, NULL, "Trims of the process since it connected.", PROCESS(trims)},
	{"qa_process_returned_bytes", METRIC_COUNTER, 1, "bytes", "Bytes that those trims returned to the system.",
	 PROCESS(returned_bytes)},
};

static const struct metric info_metric = {"qa_process", METRIC_INFO, 1, NULL, "Who the process is.", PROCESS(one)};

static const struct metric process_metrics[] = {
	{"qa_process_held_bytes", METRIC_GAUGE, 1, "bytes", "Memory that libqa has from the system: used and cached.",
	 PROCESS(totals.held_bytes)},
	{"qa_process_used_bytes", METRIC_GAUGE, 1, "bytes", "Blocks that the program has now.",
	 PROCESS(totals.used_bytes)},
	{"qa_process_cached_bytes", METRIC_GAUGE, 1, "bytes", "Held and not used: thread, partial, empty and slack.",
	 PROCESS(totals.cached_bytes)},
	{"qa_process_thread_bytes", METRIC_GAUGE, 1, "bytes", "Free blocks in caches of threads and between threads.",
	 PROCESS(totals.thread_bytes)},
	{"qa_process_partial_bytes", METRIC_GAUGE, 1, "bytes", "Free blocks in pages that also have used ones.",
	 PROCESS(totals.partial_bytes)},
	{"qa_process_empty_bytes", METRIC_GAUGE, 1, "bytes", "Pages without a used block.",
	 PROCESS(totals.empty_bytes)},
	{"qa_process_slack_bytes", METRIC_GAUGE, 1, "bytes", "Bytes of pages that no block covers.",
	 PROCESS(totals.slack_bytes)},
	{"qa_process_unreachable_bytes", METRIC_GAUGE, 1, "bytes",
	 "The part of thread that a trim from outside can not take now.", PROCESS(totals.unreachable_bytes)},
	{"qa_process_threads", METRIC_GAUGE, 1, NULL, "Threads that have a cache.", PROCESS(totals.threads)},
	{"qa_process_age_seconds", METRIC_GAUGE, 1000, "seconds", "How old these figures of the process are.",
	 PROCESS(age_ms)},
	{"qa_process_allocations", METRIC_COUNTER, 1, NULL, "Blocks that the program allocated.",
	 PROCESS(totals.allocs)},
	{"qa_process_frees", METRIC_COUNTER, 1, NULL, "Blocks that the program freed.", PROCESS(totals.frees)},
};

static const struct metric class_metrics[] = {
	{"qa_class_held_bytes", METRIC_GAUGE, 1, "bytes", "Memory that the size class or pool has from the system.",
	 CLASS(held_bytes)},
	{"qa_class_used_bytes", METRIC_GAUGE, 1, "bytes", "Blocks of the class that the program has now.",
	 CLASS(used_bytes)},
	{"qa_class_cached_bytes", METRIC_GAUGE, 1, "bytes", "Held by the class and not used.", CLASS(cached_bytes)},
	{"qa_class_thread_bytes", METRIC_GAUGE, 1, "bytes", "Of the class: free blocks in caches of threads.",
	 CLASS(thread_bytes)},
	{"qa_class_partial_bytes", METRIC_GAUGE, 1, "bytes", "Of the class: free blocks in pages that have used ones.",
	 CLASS(partial_bytes)},
	{"qa_class_empty_bytes", METRIC_GAUGE, 1, "bytes", "Of the class: pages without a used block.",
	 CLASS(empty_bytes)},
	{"qa_class_slack_bytes", METRIC_GAUGE, 1, "bytes", "Of the class: bytes that no block covers.",
	 CLASS(slack_bytes)},
	{"qa_class_pages", METRIC_GAUGE, 1, NULL, "Pages of the class.", CLASS(pages)},
	{"qa_class_used_blocks", METRIC_GAUGE, 1, NULL, "Blocks of the class that the program has now.",
	 CLASS(used_blocks)},
	{"qa_class_allocations", METRIC_COUNTER, 1, NULL, "Blocks of the class that were allocated.", CLASS(allocs)},
	{"qa_class_frees", METRIC_COUNTER, 1, NULL, "Blocks of the class that were freed.", CLASS(frees)},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static uint64_t value_at(const void *values, size_t offset)
{
	return *(const uint64_t *)(const void *)((const char *)values + offset);
}

static void add_process(struct processes *processes, const struct target *target, uint64_t now_ms)
{
	struct process_row *row = &processes->rows[processes->count++];
	struct qp_buffer *labels = &processes->labels;

	row->target = target;
	row->values = (struct process_values){
		.totals = target->last.totals,
		.rss_bytes = target->sample.rss_bytes,
		.age_ms = now_ms - target->last.at_ms,
		.is_silent = target->is_silent,
		.trims = target->trims,
		.returned_bytes = target->trim_bytes,
		.one = 1,
	};
	row->labels_at = row->info_at = labels->used_bytes;
	metric_append_label_u64(labels, true, "pid", (uint64_t)target->peer->who.pid);
	metric_append_label(labels, false, "command", target->process.command);
	metric_append_label(labels, false, "name", target->name);
	row->labels_bytes = labels->used_bytes - row->labels_at;
	metric_append_label_u64(labels, false, "uid", target->peer->who.uid);
	metric_append_label_u64(labels, false, "inner_pid", target->inner_pid);
	metric_append_label(labels, false, "version", target->version);
	metric_append_label(labels, false, "cgroup", target->process.cgroup);
	metric_append_label(labels, false, "exe", target->process.exe);
	row->info_bytes = labels->used_bytes - row->info_at;
}

/* False without memory. */
static bool gather(struct http_job *job, struct processes *processes)
{
	const struct registry *registry = &job->service->registry;

	*processes = (struct processes){.rows = calloc(registry->count + 1, sizeof(*processes->rows))};
	qp_buffer_init(&processes->labels, SIZE_MAX / 4);
	for (size_t i = 0; i < registry->count && processes->rows != NULL; i++)
		if (!registry->targets[i]->peer->closing)
			add_process(processes, registry->targets[i], uv_now(job->service->loop));
	return processes->rows != NULL && !processes->labels.failed;
}

static void write_process_family(struct qp_buffer *out, const struct processes *processes, const struct metric *metric,
				 bool is_openmetrics, bool needs_figures)
{
	const char *labels = (const char *)processes->labels.data;
	bool is_info = metric->kind == METRIC_INFO;

	metric_write_head(out, metric, is_openmetrics);
	for (size_t i = 0; i < processes->count; i++) {
		const struct process_row *row = &processes->rows[i];

		if (needs_figures && !row->target->last.is_known)
			continue;
		metric_write_sample(out, metric, labels + (is_info ? row->info_at : row->labels_at),
				    is_info ? row->info_bytes : row->labels_bytes,
				    value_at(&row->values, metric->offset));
	}
}

static void write_class_samples(struct qp_buffer *out, const struct metric *metric, const struct target *target,
				struct qp_buffer *labels, size_t common_bytes)
{
	for (size_t i = 0; i < target->last.row_count; i++) {
		const struct qp_class *class = &target->last.rows[i];

		labels->used_bytes = common_bytes;
		metric_append_label_u64(labels, false, "block_size", class->block_size);
		metric_append_label(labels, false, "pool", class->name);
		metric_write_sample(out, metric, (const char *)labels->data, labels->used_bytes,
				    value_at(class, metric->offset));
	}
}

static void write_class_families(struct qp_buffer *out, const struct processes *processes, bool is_openmetrics)
{
	struct qp_buffer labels;

	qp_buffer_init(&labels, SIZE_MAX / 4);
	for (size_t i = 0; i < COUNT(class_metrics); i++) {
		metric_write_head(out, &class_metrics[i], is_openmetrics);
		for (size_t j = 0; j < processes->count; j++) {
			const struct process_row *row = &processes->rows[j];

			qp_buffer_reset(&labels);
			qp_buffer_append(&labels, processes->labels.data + row->labels_at, row->labels_bytes);
			write_class_samples(out, &class_metrics[i], row->target, &labels, row->labels_bytes);
		}
	}
	out->failed |= labels.failed;
	qp_buffer_finish(&labels);
}

static void write_all(struct http_job *job, const struct processes *processes, struct qp_buffer *out, bool with_classes)
{
	bool is_openmetrics = job->wish.wants_openmetrics;

	write_process_family(out, processes, &info_metric, is_openmetrics, false);
	for (size_t i = 0; i < COUNT(known_metrics); i++)
		write_process_family(out, processes, &known_metrics[i], is_openmetrics, false);
	for (size_t i = 0; i < COUNT(process_metrics); i++)
		write_process_family(out, processes, &process_metrics[i], is_openmetrics, true);
	if (with_classes)
		write_class_families(out, processes, is_openmetrics);
	metrics_write_qad(out, job->service, is_openmetrics);
	metric_write_end(out, is_openmetrics);
}

static bool wants_classes(const struct http_job *job)
{
	const char *classes = http_parameter(job, "classes");

	return classes != NULL && strcmp(classes, "1") == 0;
}

static void on_ready(struct http_job *job)
{
	struct processes processes;
	struct qp_buffer out;

	/* A body above the limit of memory would be refused anyway. */
	qp_buffer_init(&out, job->service->limits->http_memory_bytes);
	if (gather(job, &processes))
		write_all(job, &processes, &out, wants_classes(job));
	else
		out.failed = true;
	free(processes.rows);
	qp_buffer_finish(&processes.labels);
	if (out.failed) {
		qp_buffer_finish(&out);
		http_fail(
			job, 503, "busy",
			"these metrics take more memory than the limit http_memory_bytes allows, or qad is out of it");
		return;
	}
	/* Nothing was consumed: the bytes begin where the memory does. */
	http_answer_bytes(job, 200, job->wish.wants_openmetrics ? HTTP_TYPE_OPENMETRICS : HTTP_TYPE_METRICS, out.memory,
			  out.used_bytes);
}

void http_metrics(struct http_job *job)
{
	const char *classes = http_parameter(job, "classes");

	if (classes != NULL && strcmp(classes, "1") != 0 && strcmp(classes, "0") != 0)
		http_fail(job, 400, "bad_request", "\"classes\" is 0 or 1");
	else
		http_want_figures(job, wants_classes(job), on_ready);
}
