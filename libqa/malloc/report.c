/*
 * The report lies in a mapping, so that it neither shows in its own figures nor needs the allocator to be well.
 */
#include "malloc/report.h"

#include <errno.h>
#include <sys/mman.h>

struct report *report_create(void)
{
	int saved = errno;
	struct report *report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (report == MAP_FAILED)
		return NULL;
	report->row_count = qa_stats(&report->stats, report->rows, QA_STATS_ROWS_MAX);
	return report;
}

void report_destroy(struct report *report)
{
	int saved = errno;
	if (report)
		munmap(report, sizeof *report);
	errno = saved;
}
