/*
 * Nearly everything is read once, when the target says hello; a later image of the process (exec) brings a connection
 * of its own. Only the size changes, and `ps` wants that of all targets at once: so /proc/<pid>/statm stays open, where
 * a read costs a fifth of what opening it costs. An open file of /proc is bound to its process: it never tells about a
 * later one with the same pid. Descriptors are for connections first: when they may become short the file is not kept,
 * and /proc/<pid>/stat answers both "is it still the same?" and "how large is it?".
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

#define COMM_BYTES 15u   /* the kernel cuts a command name here */
#define TEXT_BYTES 4096u /* of a path or a cgroup */

int identity_of_socket(int socket, struct identity *identity)
{
	struct ucred credentials;
	socklen_t size = sizeof(credentials);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
		return -errno;
	*identity = (struct identity){.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
	return 0;
}

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5; not in every libc yet */
#endif

/* Reads at most size - 1 bytes of /proc/<pid>/<file> and ends them with a NUL. How many, or a negative errno. */
static ssize_t read_proc(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	ssize_t bytes = read(fd, text, size - 1);
	int error = errno;
	close(fd);
	if (bytes < 0)
		return -error;
	text[bytes] = '\0';
	return bytes;
}

/* Whether the process runs as that user now. */
static bool is_of_user(pid_t pid, uid_t uid)
{
	char text[1024];
	unsigned real, effective;

	if (read_proc(pid, "status", text, sizeof(text)) < 0)
		return false;

	const char *at = strstr(text, "\nUid:"); /* a name has no line of its own there: it is escaped */
	return at != NULL && sscanf(at, "\nUid: %u %u", &real, &effective) == 2 && effective == uid;
}

bool identity_is_alive(int socket, const struct identity *identity)
{
	int process;
	socklen_t size = sizeof(process);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &process, &size) != 0) {
		if (errno == ESRCH || errno == EINVAL)
			return false; /* what kernels say of a process that is reaped */
		return is_of_user(identity->pid, identity->uid);
	}

	struct pollfd exited = {.fd = process, .events = POLLIN};
	bool is_alive = poll(&exited, 1, 0) == 0;
	close(process);
	return is_alive;
}

/*
 * The start time and the resident pages: fields 22 and 24. The command, field 2, is in parentheses and may contain
 * blanks and parentheses itself, so counting begins after the last one.
 */
static int read_stat(pid_t pid, uint64_t *start_ticks, uint64_t *rss_pages)
{
	char text[1024];
	ssize_t bytes = read_proc(pid, "stat", text, sizeof(text));

	if (bytes < 0)
		return (int)bytes;

	char *at = strrchr(text, ')');
	if (at == NULL)
		return -ESRCH;
	for (int field = 2; field < 22; field++) {
		at = strchr(at + 1, ' ');
		if (at == NULL)
			return -EINVAL;
	}
	*start_ticks = strtoull(at, &at, 10);
	strtoull(at, &at, 10); /* the size of its address space */
	*rss_pages = strtoull(at, &at, 10);
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/*
 * The command as a user types it: the kernel's command name, and when that was cut, the longer name from the first
 * argument or the executable that begins with it.
 */
static int read_command(pid_t pid, const char *exe, char command[QP_NAME_BYTES + 1])
{
	char comm[64], arguments[TEXT_BYTES];
	ssize_t bytes = read_proc(pid, "comm", comm, sizeof(comm));

	if (bytes < 0)
		return (int)bytes;
	if (bytes > 0 && comm[bytes - 1] == '\n')
		comm[--bytes] = '\0';

	const char *best = comm;
	if ((size_t)bytes == COMM_BYTES) {
		ssize_t argument_bytes = read_proc(pid, "cmdline", arguments, sizeof(arguments));
		const char *first = argument_bytes > 0 ? base_name(arguments) : "";
		const char *file = base_name(exe);

		if (strncmp(first, comm, COMM_BYTES) == 0)
			best = first;
		else if (strncmp(file, comm, COMM_BYTES) == 0)
			best = file;
	}
	text_copy(command, QP_NAME_BYTES + 1, best, strlen(best));
	return 0;
}

/* A copy made UTF-8; NULL without memory. A replaced byte takes three. */
static char *copy_text(const char *text, size_t bytes)
{
	char repaired[TEXT_BYTES];

	text_copy(repaired, sizeof(repaired), text, bytes);
	return strdup(repaired);
}

/* Empty without the right to look (another user's process) and for what has no file. */
static char *read_exe(pid_t pid)
{
	char path[64], text[TEXT_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t bytes = readlink(path, text, sizeof(text));
	return copy_text(text, bytes > 0 ? (size_t)bytes : 0);
}

/* The path of the unified hierarchy (the line "0::/path"), else of the first one. */
static char *read_cgroup(pid_t pid)
{
	char text[TEXT_BYTES];
	ssize_t bytes = read_proc(pid, "cgroup", text, sizeof(text));

	if (bytes <= 0)
		return strdup("");

	const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (line == NULL)
		line = text;
	else if (*line == '\n')
		line++;
	for (int colons = 0; colons < 2 && *line != '\0'; line++)
		colons += *line == ':';
	return copy_text(line, strcspn(line, "\n"));
}

/* The file, or -1 where it can not be had. */
static int open_statm(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int process_init(struct process *process, pid_t pid, bool keeps_file)
{
	uint64_t rss_pages;

	*process = (struct process){.pid = pid, .statm = keeps_file ? open_statm(pid) : -1};
	int error = read_stat(pid, &process->start_ticks, &rss_pages);
	if (error == 0) {
		process->exe = read_exe(pid);
		process->cgroup = read_cgroup(pid);
		error = process->exe != NULL && process->cgroup != NULL ? 0 : -ENOMEM;
	}
	if (error == 0)
		error = read_command(pid, process->exe, process->command);
	if (error != 0)
		process_finish(process);
	return error;
}

void process_finish(struct process *process)
{
	free(process->exe);
	free(process->cgroup);
	if (process->statm >= 0)
		close(process->statm);
	*process = (struct process){.statm = -1};
}

/* The second number of statm. */
static int read_statm(int statm, uint64_t *rss_pages)
{
	char text[128], *at;
	ssize_t bytes = pread(statm, text, sizeof(text) - 1, 0);

	if (bytes < 0)
		return -errno;
	text[bytes] = '\0';
	at = strchr(text, ' ');
	if (at == NULL)
		return -ESRCH;
	*rss_pages = strtoull(at, NULL, 10);
	return 0;
}

int process_sample(const struct process *process, struct process_sample *sample)
{
	uint64_t ticks = process->start_ticks, rss_pages;
	struct timespec now = {0};
	int error = process->statm >= 0 ? read_statm(process->statm, &rss_pages)
					: read_stat(process->pid, &ticks, &rss_pages);

	if (error != 0)
		return error;
	if (ticks != process->start_ticks)
		return -ESRCH;
	clock_gettime(CLOCK_BOOTTIME, &now);
	uint64_t started_s = ticks / (uint64_t)sysconf(_SC_CLK_TCK);
	sample->rss_bytes = rss_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	sample->uptime_s = (uint64_t)now.tv_sec > started_s ? (uint64_t)now.tv_sec - started_s : 0;
	return 0;
}
