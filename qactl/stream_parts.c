/*
 * Rates are of the time between the two moments that the figures are of, not between the lines: figures may be older
 * than their line. The first line has no rates; vmstat's averages since the start would look like something that
 * happens now.
 */
#include "stream_parts.h"

#include <stdio.h>

#include "size.h"

void stream_parts_print_titles(void)
{
	printf("%7s %7s %7s %7s %7s %7s %7s %7s %7s %7s\n", "HELD", "USED", "CACHED", "THREAD", "PARTIAL", "EMPTY",
	       "SLACK", "RSS", "ALLOC/S", "FREE/S");
}

static void format_rate(bool is_known, uint64_t now, uint64_t before, uint64_t span_ms, char *text, size_t text_bytes)
{
	if (!is_known || span_ms == 0 || now < before)
		snprintf(text, text_bytes, "-");
	else
		size_format_count((now - before) * 1000 / span_ms, text, text_bytes);
}

void stream_parts_print(struct stream *stream, const struct target *target, uint64_t time_ms)
{
	const struct qp_totals *totals = &target->totals;
	const uint64_t bytes[] = {totals->held_bytes,   totals->used_bytes,    totals->cached_bytes,
				  totals->thread_bytes, totals->partial_bytes, totals->empty_bytes,
				  totals->slack_bytes};
	uint64_t at_ms = time_ms - target->age_ms, span_ms = at_ms - stream->last_ms;
	bool has_span = target->has_figures && stream->has_last && at_ms > stream->last_ms;
	char text[SIZE_TEXT], allocs[SIZE_TEXT], frees[SIZE_TEXT];

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		snprintf(text, sizeof(text), "-");
		if (target->has_figures)
			size_format_short(bytes[i], text, sizeof(text));
		printf("%7s ", text);
	}
	size_format_short(target->rss_bytes, text, sizeof(text));
	format_rate(has_span, totals->allocs, stream->last_allocs, span_ms, allocs, sizeof(allocs));
	format_rate(has_span, totals->frees, stream->last_frees, span_ms, frees, sizeof(frees));
	printf("%7s %7s %7s%s\n", text, allocs, frees, target->is_silent ? "  silent" : "");
	if (!target->has_figures || (stream->has_last && at_ms <= stream->last_ms))
		return;
	stream->has_last = true;
	stream->last_ms = at_ms;
	stream->last_allocs = totals->allocs;
	stream->last_frees = totals->frees;
}
