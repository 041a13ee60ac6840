/*
 * Whether all data was written is known only when stdout is closed, so that is where it is tested, once. A stdout that
 * was closed by the caller gets a descriptor that can not be written to: otherwise the next socket would become stdout.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

static void (*pipe_handler)(int) = SIG_DFL;
static bool is_reader_gone;
static int write_error;

void output_prepare(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) == -1)
			(void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
	pipe_handler = signal(SIGPIPE, SIG_IGN);
}

void output_restore(void)
{
	signal(SIGPIPE, pipe_handler);
}

void output_say(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fputs("qactl: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

int output_no_memory(void)
{
	output_say("out of memory");
	return EX_OSERR;
}

int output_reader_gone(void)
{
	is_reader_gone = true;
	return EX_IOERR;
}

int output_flush(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	write_error = errno;
	return errno == EPIPE ? output_reader_gone() : EX_IOERR;
}

int output_finish(int status)
{
	int failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout) == 0 && !failed)
		return status;
	if (is_reader_gone)
		return status ? status : EX_IOERR;
	if (!errno)
		errno = write_error;
	/* A write in the middle failed and closing did not: the reason is no longer known. */
	fprintf(stderr, "qactl: not all output could be written: %s\n", errno ? strerror(errno) : "write error");
	return status ? status : EX_IOERR;
}
