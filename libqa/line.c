/*
 * There is always room for the end of the line: what is added leaves one byte.
 */
#include "line.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent_self.h"

void line_begin(struct line *line)
{
	line->length = 0;
	line_add(line, "libqa: ");
}

void line_add(struct line *line, const char *text)
{
	size_t length = strnlen(text, sizeof line->text - 1 - line->length);
	memcpy(line->text + line->length, text, length);
	line->length += length;
}

void line_add_number(struct line *line, uint64_t number, unsigned base)
{
	char digits[24];
	size_t i = sizeof digits;
	digits[--i] = '\0';
	do
		digits[--i] = "0123456789abcdef"[number % base];
	while ((number /= base) != 0);
	line_add(line, digits + i);
}

void line_write(struct line *line)
{
	line->text[line->length++] = '\n';
	/* The agent has a table of descriptors of its own, without the program's stderr. */
	int fd = agent_self_is_current() ? open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_CLOEXEC) : STDERR_FILENO;
	ssize_t written = write(fd, line->text, line->length);
	(void)written; /* nowhere else to say it */
}
