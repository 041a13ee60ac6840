/*
 * http_exposition.h - writes metrics in the two forms that Prometheus reads: its text format 0.0.4, and
 * OpenMetrics 1.0.
 *
 * They differ in the heads of families and in the end; samples are the same.
 */
#ifndef QAD_HTTP_EXPOSITION_H
#define QAD_HTTP_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

enum metric_kind { METRIC_GAUGE, METRIC_COUNTER, METRIC_INFO };

/* One family. The name is without what its kind adds: _total for a counter, _info for an info. */
struct metric {
	const char *name;
	enum metric_kind kind;
	uint32_t divisor; /* 1, or a power of ten: the value is in such parts */
	const char *unit; /* with which the name ends; NULL: none */
	const char *help;
	size_t offset; /* of its value, a uint64_t, in the caller's struct */
};

void metric_write_head(struct qp_buffer *out, const struct metric *metric, bool is_openmetrics);
/* labels: as metric_append_label made them, without braces; "" is allowed. */
void metric_write_sample(struct qp_buffer *out, const struct metric *metric, const char *labels, size_t labels_bytes,
			 uint64_t value);
void metric_write_end(struct qp_buffer *out, bool is_openmetrics);

/* Appends name="value", with a comma before it unless it is the first. Control characters are made visible. */
void metric_append_label(struct qp_buffer *labels, bool is_first, const char *name, const char *value);
void metric_append_label_u64(struct qp_buffer *labels, bool is_first, const char *name, uint64_t value);

#endif
