/*
 * A scrape of a thousand processes is twenty thousand samples, so a sample is a few copies and no format is parsed.
 */
#include "http_exposition.h"

#include <stdio.h>
#include <string.h>

static const char *const suffixes[] = {[METRIC_GAUGE] = "", [METRIC_COUNTER] = "_total", [METRIC_INFO] = "_info"};
static const char *const kinds[] = {[METRIC_GAUGE] = "gauge", [METRIC_COUNTER] = "counter", [METRIC_INFO] = "info"};

static void append_text(struct qp_buffer *out, const char *text)
{
	qp_buffer_append(out, text, strlen(text));
}

static void append_line(struct qp_buffer *out, const char *keyword, const char *name, const char *suffix,
			const char *text)
{
	append_text(out, keyword);
	append_text(out, name);
	append_text(out, suffix);
	append_text(out, " ");
	append_text(out, text);
	append_text(out, "\n");
}

void metric_write_head(struct qp_buffer *out, const struct metric *metric, bool is_openmetrics)
{
	/* OpenMetrics gives a family the bare name; the older form that of its samples, and info is a gauge. */
	const char *suffix = is_openmetrics ? "" : suffixes[metric->kind];
	bool is_gauge = metric->kind == METRIC_INFO && !is_openmetrics;

	append_line(out, "# HELP ", metric->name, suffix, metric->help);
	append_line(out, "# TYPE ", metric->name, suffix, is_gauge ? "gauge" : kinds[metric->kind]);
	if (is_openmetrics && metric->unit != NULL)
		append_line(out, "# UNIT ", metric->name, suffix, metric->unit);
}

/* The digits of a number, at least so many of them. */
static size_t write_digits(char *end, uint64_t value, size_t least)
{
	size_t count = 0;

	while (value > 0 || count < least) {
		*--end = (char)('0' + value % 10);
		value /= 10;
		count++;
	}
	return count;
}

static void append_value(struct qp_buffer *out, uint64_t value, uint32_t divisor)
{
	char digits[48], *end = digits + sizeof(digits);
	size_t bytes = 0, places = 0;

	while (divisor > 1) {
		divisor /= 10;
		places++;
	}
	if (places > 0) {
		uint64_t unit = 1;

		for (size_t i = 0; i < places; i++)
			unit *= 10;
		bytes = write_digits(end, value % unit, places);
		end[-(ptrdiff_t)++bytes] = '.';
		value /= unit;
	}
	bytes += write_digits(end - bytes, value, 1);
	qp_buffer_append(out, end - bytes, bytes);
}

void metric_write_sample(struct qp_buffer *out, const struct metric *metric, const char *labels, size_t labels_bytes,
			 uint64_t value)
{
	append_text(out, metric->name);
	append_text(out, suffixes[metric->kind]);
	if (labels_bytes > 0) {
		qp_buffer_append(out, "{", 1);
		qp_buffer_append(out, labels, labels_bytes);
		qp_buffer_append(out, "}", 1);
	}
	qp_buffer_append(out, " ", 1);
	append_value(out, value, metric->divisor);
	qp_buffer_append(out, "\n", 1);
}

void metric_write_end(struct qp_buffer *out, bool is_openmetrics)
{
	if (is_openmetrics)
		append_text(out, "# EOF\n");
}

/* Control characters of ASCII, and U+0080 to U+009F, which some terminals obey too. */
static size_t control_bytes(const unsigned char *text)
{
	if (text[0] < 0x20 || text[0] == 0x7f)
		return 1;
	return text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0 ? 2 : 0;
}

static void append_escaped(struct qp_buffer *out, const char *value)
{
	for (const unsigned char *at = (const unsigned char *)value; *at != '\0';) {
		size_t controls = control_bytes(at);

		if (*at == '\\' || *at == '"')
			qp_buffer_append(out, "\\", 1);
		if (*at == '\n') {
			append_text(out, "\\n");
			at++;
			continue;
		}
		if (controls == 0)
			qp_buffer_append(out, at++, 1);
		for (; controls > 0; controls--) {
			char text[8];

			/* A backslash is written as two. */
			snprintf(text, sizeof(text), "\\\\x%02x", *at++);
			append_text(out, text);
		}
	}
}

void metric_append_label(struct qp_buffer *labels, bool is_first, const char *name, const char *value)
{
	append_text(labels, is_first ? "" : ",");
	append_text(labels, name);
	append_text(labels, "=\"");
	append_escaped(labels, value);
	append_text(labels, "\"");
}

void metric_append_label_u64(struct qp_buffer *labels, bool is_first, const char *name, uint64_t value)
{
	append_text(labels, is_first ? "" : ",");
	append_text(labels, name);
	append_text(labels, "=\"");
	append_value(labels, value, 1);
	append_text(labels, "\"");
}
