/*
 * A line is formatted, escaped and written with a single write(2), so that lines of several processes on one terminal
 * stay whole. There is no timer behind the limit on faults: the count of lines left out goes with the next line.
 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024u
#define FAULTS_IN_PERIOD 20u
#define PERIOD_MS 10000u

static const char *const level_names[] = {"error: ", "warning: ", "", "", "debug: "};

void log_init(struct log *log, enum log_level level)
{
	*log = (struct log){.level = level};
}

/* Control characters of ASCII, and U+0080 to U+009F, which some terminals obey too. */
static int control_bytes(const unsigned char *text)
{
	if (text[0] < 0x20 || text[0] == 0x7f)
		return 1;
	return text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0 ? 2 : 0;
}

static void write_line(enum log_level level, const char *text)
{
	char line[LINE_BYTES * 2];
	size_t used = (size_t)snprintf(line, sizeof(line), "qad: %s", level_names[level]);

	for (const unsigned char *at = (const unsigned char *)text; *at != '\0' && used + 10 < sizeof(line);) {
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
	write_line(level, text);
}

void log_fault(struct log *log, uint64_t now_ms, const char *format, ...)
{
	char text[LINE_BYTES];
	va_list arguments;

	if (log->level < LOG_LEVEL_WARNING)
		return;
	if (now_ms >= log->period_ends_ms) {
		log->period_ends_ms = now_ms + PERIOD_MS;
		log->faults = 0;
		if (log->left_out > 0)
			log_write(log, LOG_LEVEL_WARNING, "%u lines like this were left out", log->left_out);
		log->left_out = 0;
	}
	if (++log->faults > FAULTS_IN_PERIOD) {
		log->left_out++;
		return;
	}
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	write_line(LOG_LEVEL_WARNING, text);
}
