/*
 * http_metrics_qad.h - the metrics of qad itself, in the words of `health`.
 */
#ifndef QAD_HTTP_METRICS_QAD_H
#define QAD_HTTP_METRICS_QAD_H

#include "buffer.h"
#include "service.h"

void metrics_write_qad(struct qp_buffer *out, const struct service *service, bool is_openmetrics);

#endif
