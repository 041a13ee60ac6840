/*
 * A line is formatted, escaped and written with a single write(2), so that lines of several processes on one terminal
 * stay whole. There is no timer behind the limits: the count of lines left out goes with the next line.
 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 1024u
#define LINES_IN_PERIOD 20u
#define PERIOD_MS 10000u

static const char *const level_names[] = {"error: ", "warning: ", "", "", "debug: "};

/* Priorities of syslog(3), as the journal takes them. */
static const char *const level_priorities[] = {"<3>", "<4>", "<5>", "<6>", "<7>"};

/* JOURNAL_STREAM is inherited: it counts only while stderr is what systemd made it. */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;

	return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

void log_init(struct log *log, enum log_level level)
{
	*log = (struct log){.level = level, .is_journal = is_journal()};
}

/*
 * Control characters of ASCII, and U+0080 to U+009F, which some terminals obey too; U+200B to U+200F, U+2028 to U+202E
 * and U+2066 to U+2069, which can not be seen, end a line or turn what follows them.
 */
static int control_bytes(const unsigned char *text)
{
	if (text[0] < 0x20 || text[0] == 0x7f)
		return 1;
	if (text[0] == 0xc2)
		return text[1] >= 0x80 && text[1] < 0xa0 ? 2 : 0;
	if (text[0] != 0xe2 || (text[1] != 0x80 && text[1] != 0x81))
		return 0;
	if (text[1] == 0x81)
		return text[2] >= 0xa6 && text[2] <= 0xa9 ? 3 : 0;
	return (text[2] >= 0x8b && text[2] <= 0x8f) || (text[2] >= 0xa8 && text[2] <= 0xae) ? 3 : 0;
}

#define ESCAPED_BYTES 14u /* three of "\\x00", the end of the line, and a NUL */

static void write_line(const struct log *log, enum log_level level, const char *text)
{
	char line[LINE_BYTES * 2];
	size_t used = (size_t)snprintf(line, sizeof(line), "%sqad: %s", log->is_journal ? level_priorities[level] : "",
				       level_names[level]);

	for (const unsigned char *at = (const unsigned char *)text;
	     *at != '\0' && used + ESCAPED_BYTES < sizeof(line);) {
		int controls = control_bytes(at);

		if (controls == 0)
			line[used++] = (char)*at++;
		for (; controls > 0; controls--)
			used += (size_t)snprintf(line + used, sizeof(line) - used, "\\x%02x", *at++);
	}
	line[used++] = '\n';
	/* Nothing can be done when stderr is gone; the daemon goes on. */
	ssize_t ignored = write(STDERR_FILENO, line, used);
	(void)ignored;
}

void log_write(struct log *log, enum log_level level, const char *format, ...)
{
	char text[LINE_BYTES];
	va_list arguments;

	if (level > log->level)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	write_line(log, level, text);
}

/* False: it was left out. */
static bool write_limited(struct log *log, struct log_limit *limit, uint64_t now_ms, enum log_level level,
			  const char *format, va_list arguments)
{
	char text[LINE_BYTES];

	if (level > log->level)
		return false;
	if (now_ms >= limit->period_ends_ms) {
		limit->period_ends_ms = now_ms + PERIOD_MS;
		limit->lines = 0;
		if (limit->left_out > 0)
			log_write(log, level, "%u lines like this were left out", limit->left_out);
		limit->left_out = 0;
	}
	if (limit->lines == LINES_IN_PERIOD) {
		limit->left_out++;
		return false;
	}
	limit->lines++;
	vsnprintf(text, sizeof(text), format, arguments);
	write_line(log, level, text);
	return true;
}

void log_fault(struct log *log, uint64_t now_ms, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_limited(log, &log->faults, now_ms, LOG_LEVEL_WARNING, format, arguments);
	va_end(arguments);
}

bool log_trouble(struct log *log, uint64_t now_ms, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	bool is_written = write_limited(log, &log->troubles, now_ms, LOG_LEVEL_WARNING, format, arguments);
	va_end(arguments);
	return is_written;
}

void log_deed(struct log *log, uint64_t now_ms, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_limited(log, &log->deeds, now_ms, LOG_LEVEL_NOTICE, format, arguments);
	va_end(arguments);
}
