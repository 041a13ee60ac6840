/*
 * A line is put together in a small array on the stack and goes out in one write, since the heap may be broken and
 * stdio may allocate.
 */
#include "fatal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

struct line {
	char text[400];
	size_t length;
};

static void line_add(struct line *line, const char *text)
{
	size_t length = strnlen(text, sizeof line->text - 1 - line->length);
	memcpy(line->text + line->length, text, length);
	line->length += length;
}

static void line_add_number(struct line *line, uint64_t number, unsigned base)
{
	char digits[24];
	size_t i = sizeof digits;
	digits[--i] = '\0';
	do
		digits[--i] = "0123456789abcdef"[number % base];
	while ((number /= base) != 0);
	line_add(line, digits + i);
}

static void line_write(struct line *line)
{
	line->text[line->length++] = '\n';
	/* The agent has a table of descriptors of its own, without the program's stderr. */
	int fd = agent_is_current() ? open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_CLOEXEC) : STDERR_FILENO;
	ssize_t written = write(fd, line->text, line->length);
	(void)written; /* nowhere else to say it */
}

void fatal_block(const char *what, const void *block, uint32_t block_size, uint32_t expected_size)
{
	struct line line = {.length = 0};
	line_add(&line, "libqa: ");
	line_add(&line, what);
	line_add(&line, ": 0x");
	line_add_number(&line, (uintptr_t)block, 16);
	if (block_size != UINT32_MAX) {
		line_add(&line, ", a block of size class ");
		line_add_number(&line, block_size, 10);
	}
	if (expected_size != UINT32_MAX) {
		line_add(&line, ", given back as one of ");
		line_add_number(&line, expected_size, 10);
	}
	line_write(&line);
	abort();
}

void warn_setting(const char *name, const char *value, const char *allowed)
{
	int saved = errno;
	struct line line = {.length = 0};
	line_add(&line, "libqa: ");
	line_add(&line, name);
	line_add(&line, "='");
	char shown[64];
	size_t length = strnlen(value, sizeof shown - 1);
	for (size_t i = 0; i < length; i++)
		shown[i] = (char)(value[i] >= ' ' && value[i] <= '~' ? value[i] : '?');
	shown[length] = '\0';
	line_add(&line, shown);
	line_add(&line, "' is not understood and not used; allowed: ");
	line_add(&line, allowed);
	line_write(&line);
	errno = saved;
}
