/*
 * What glibc tells of its heap and lets one set, in libqa's figures. arena is what size classes and pools hold, hblkhd
 * what large blocks hold; uordblks and fordblks are used and cached. mallopt takes every parameter for good and changes
 * nothing: none of them has a meaning here.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>

#include "malloc/entry.h"
#include "malloc/report.h"

static const struct qa_class_stats *large_row(const struct report *report)
{
	return &report->rows[report->row_count - 1];
}

static uint64_t free_blocks(const struct qa_class_stats *row)
{
	return row->block_size ? (row->cached_bytes - row->slack_bytes) / row->block_size : 0;
}

ENTRY struct mallinfo2 mallinfo2(void)
{
	struct mallinfo2 info = {0};
	struct report *report = report_create();
	if (!report)
		return info;
	const struct qa_class_stats *large = large_row(report);
	for (size_t i = 0; i < report->row_count; i++)
		info.ordblks += free_blocks(&report->rows[i]);
	info.arena = report->stats.held_bytes - large->held_bytes;
	info.hblks = large->used_blocks;
	info.hblkhd = large->held_bytes;
	info.uordblks = report->stats.used_bytes - large->used_bytes;
	info.fordblks = report->stats.cached_bytes - large->cached_bytes;
	info.keepcost = report->stats.empty_bytes;
	report_destroy(report);
	return info;
}

/* The old struct has int: more than that is shown as the most there is, where glibc starts again at 0. */
static int clip(size_t value)
{
	return value > INT_MAX ? INT_MAX : (int)value;
}

ENTRY struct mallinfo mallinfo(void)
{
	struct mallinfo2 info = mallinfo2();
	return (struct mallinfo){
		.arena = clip(info.arena),
		.ordblks = clip(info.ordblks),
		.hblks = clip(info.hblks),
		.hblkhd = clip(info.hblkhd),
		.uordblks = clip(info.uordblks),
		.fordblks = clip(info.fordblks),
		.keepcost = clip(info.keepcost),
	};
}

static void print_row(FILE *out, const struct qa_class_stats *row)
{
	fprintf(out,
		"<class block_size=\"%" PRIu64 "\" pages=\"%" PRIu64 "\" held=\"%" PRIu64 "\" used=\"%" PRIu64
		"\" cached=\"%" PRIu64 "\" used_blocks=\"%" PRIu64 "\" allocs=\"%" PRIu64 "\" frees=\"%" PRIu64
		"\"/>\n",
		row->block_size, row->pages, row->held_bytes, row->used_bytes, row->cached_bytes, row->used_blocks,
		row->allocs, row->frees);
}

/* The elements that glibc has outside of its heaps, with the same meaning, and those of libqa. */
ENTRY int malloc_info(int options, FILE *out)
{
	if (options != 0)
		return EINVAL;
	struct report *report = report_create();
	if (!report)
		return ENOMEM;
	const struct qa_stats *stats = &report->stats;
	const struct qa_class_stats *large = large_row(report);
	uint64_t free_count = 0;
	fprintf(out,
		"<malloc version=\"1\">\n<libqa version=\"%s\" page_size=\"%" PRIu64 "\" threads=\"%" PRIu64 "\">\n",
		qa_version(), stats->page_size, stats->threads);
	for (size_t i = 0; i < report->row_count; i++) {
		free_count += free_blocks(&report->rows[i]);
		if (report->rows[i].held_bytes)
			print_row(out, &report->rows[i]);
	}
	fprintf(out,
		"</libqa>\n<total type=\"rest\" count=\"%" PRIu64 "\" size=\"%" PRIu64 "\"/>\n"
		"<total type=\"mmap\" count=\"%" PRIu64 "\" size=\"%" PRIu64 "\"/>\n"
		"<system type=\"current\" size=\"%" PRIu64 "\"/>\n</malloc>\n",
		free_count, stats->cached_bytes, large->used_blocks, large->held_bytes, stats->held_bytes);
	report_destroy(report);
	return 0;
}

ENTRY void malloc_stats(void)
{
	struct report *report = report_create();
	if (!report)
		return;
	const struct qa_stats *stats = &report->stats;
	fprintf(stderr, "libqa %s, bytes\n", qa_version());
	fprintf(stderr, "held   %14" PRIu64 "\nused   %14" PRIu64 "\ncached %14" PRIu64, stats->held_bytes,
		stats->used_bytes, stats->cached_bytes);
	fprintf(stderr, " = thread %" PRIu64 " + partial %" PRIu64 " + empty %" PRIu64 " + slack %" PRIu64 "\n",
		stats->thread_bytes, stats->partial_bytes, stats->empty_bytes, stats->slack_bytes);
	fprintf(stderr, "%10s %12s %12s %12s %12s\n", "block", "held", "used", "cached", "blocks used");
	for (size_t i = 0; i < report->row_count; i++) {
		const struct qa_class_stats *row = &report->rows[i];
		char block[24] = "large";
		if (row->held_bytes == 0)
			continue;
		if (row->block_size)
			snprintf(block, sizeof block, "%" PRIu64, row->block_size);
		fprintf(stderr, "%10s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "%s%s\n", block,
			row->held_bytes, row->used_bytes, row->cached_bytes, row->used_blocks, row->name[0] ? "  " : "",
			row->name);
	}
	report_destroy(report);
}

/* How much glibc may keep at the top of its heap; there is no such place here. */
ENTRY int malloc_trim(size_t pad)
{
	struct qa_trim_result result;
	(void)pad;
	return qa_trim(NULL, &result) == 0 && result.returned_bytes > 0;
}

ENTRY int mallopt(int parameter, int value)
{
	(void)parameter;
	(void)value;
	return 1;
}
