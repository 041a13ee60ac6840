/*
 * The figures of the moment when the program ends, for `qactl run --stats-at-exit`: it sets QA_STATS_FILE to
 * "PID:PATH", and the process of that pid, not its children, writes them there when it leaves by exit or the end of
 * main. Lines of words: "totals" and "class", each with its numbers in the order below (what may have spaces comes
 * last), then "end"; without that line the figures are not whole.
 *
 * The variable is read at the start: programs write over their environment to change their title.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "malloc/report.h"

static char path[128]; /* "": nobody wants to know */
static pid_t process;  /* whose figures are wanted, not those of a forked child */

__attribute__((constructor)) static void remember_file(void)
{
	const char *value = secure_getenv("QA_STATS_FILE");
	if (!value)
		return;
	char *end;
	long pid = strtol(value, &end, 10);
	if (*end != ':' || pid != getpid() || strlen(end + 1) >= sizeof path)
		return;
	process = getpid();
	strcpy(path, end + 1);
}

static void write_line(int file, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void write_line(int file, const char *format, ...)
{
	char line[512];
	va_list values;
	va_start(values, format);
	int length = vsnprintf(line, sizeof line, format, values);
	va_end(values);
	ssize_t written = write(file, line, (size_t)length);
	(void)written; /* seen by the missing end */
}

static uint64_t resident_bytes(void)
{
	char text[128] = "";
	unsigned long long size_pages, resident_pages = 0;
	int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	ssize_t length = read(file, text, sizeof text - 1);
	close(file);
	if (length <= 0 || sscanf(text, "%llu %llu", &size_pages, &resident_pages) != 2)
		return 0;
	return resident_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_totals(int file, const struct qa_stats *s)
{
	write_line(file,
		   "totals %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		   " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		   qa_version(), resident_bytes(), s->page_size, s->threads, s->held_bytes, s->used_bytes,
		   s->cached_bytes, s->thread_bytes, s->partial_bytes, s->empty_bytes, s->slack_bytes,
		   s->unreachable_bytes, s->allocs, s->frees);
}

static void write_class(int file, const struct qa_class_stats *c)
{
	write_line(file,
		   "class %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		   " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
		   c->block_size, c->pages, c->held_bytes, c->used_bytes, c->cached_bytes, c->thread_bytes,
		   c->partial_bytes, c->empty_bytes, c->slack_bytes, c->used_blocks, c->allocs, c->frees, c->name);
}

__attribute__((destructor)) static void write_file(void)
{
	if (!path[0] || process != getpid())
		return;
	struct report *report = report_create();
	int file = open(path, O_WRONLY | O_CLOEXEC);
	if (report && file >= 0) {
		write_totals(file, &report->stats);
		for (size_t i = 0; i < report->row_count; i++)
			if (report->rows[i].held_bytes)
				write_class(file, &report->rows[i]);
		write_line(file, "end\n");
	}
	if (file >= 0)
		close(file);
	report_destroy(report);
}
