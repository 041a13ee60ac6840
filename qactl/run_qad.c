/*
 * The qad that is started here belongs to nobody: a session of its own, no descriptor of ours, a parent that is gone at
 * once, so that the program that follows does not find it among its children. What it says goes to a file beside its
 * socket; when it ends instead of listening, that is shown. Two qactl that do this at the same time are no problem: the
 * second qad ends, as the first listens there.
 */
#include "run_qad.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "address.h"
#include "client.h"
#include "output.h"
#include "run_library.h"
#include "text.h"

enum { START_MS = 5000, LOOK_MS = 5, SAID_BYTES = 2048 };

struct start {
	struct qp_address address;
	char log_path[QP_ADDRESS_BYTES + 8];
	int log;
	off_t log_start;
	int process; /* a pidfd, or -1 */
};

static int open_socket(const char *socket_path)
{
	struct client client;
	int error;

	client_init(&client);
	error = client_open(&client, socket_path);
	client_finish(&client);
	return error;
}

static int fail(const struct start *start, const char *what, int error)
{
	char shown[PATH_MAX];

	text_escape(shown, sizeof(shown), start->address.path);
	output_say("can not start qad at %s: %s%s%s", shown, what, error ? ": " : "", error ? strerror(error) : "");
	return EX_UNAVAILABLE;
}

/* Only a file that is the user's and no link: the folder may be one for all. */
static bool open_log(struct start *start)
{
	struct stat status;

	snprintf(start->log_path, sizeof(start->log_path), "%s.log", start->address.path);
	start->log = open(start->log_path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (start->log < 0)
		return false;
	if (fstat(start->log, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
		close(start->log);
		errno = EPERM;
		return false;
	}
	start->log_start = status.st_size;
	return true;
}

/* In the grandchild: becomes qad. */
static void become_qad(const struct start *start, const char *program)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(start->log, STDOUT_FILENO);
	dup2(start->log, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	execlp(program, "qad", "--socket", start->address.path, (char *)NULL);
	dprintf(STDERR_FILENO, "%s: %s\n", program, strerror(errno));
	_exit(127);
}

/* Makes the grandchild, and learns its pid before anybody can have reaped it. */
static int make_process(struct start *start, const char *program)
{
	int ends[2], status;
	pid_t child, qad = -1;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	child = fork();
	if (child == 0) {
		qad = fork();
		if (qad == 0)
			become_qad(start, program);
		(void)!write(ends[1], &qad, sizeof(qad));
		_exit(0);
	}
	int error = child < 0 ? -errno : 0;
	close(ends[1]);
	if (child > 0 && read(ends[0], &qad, sizeof(qad)) == sizeof(qad) && qad > 0)
		start->process = pidfd_open(qad, 0);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return error < 0 ? error : qad > 0 ? 0 : -EAGAIN;
}

/* Sleeps a moment. Whether qad has ended meanwhile. */
static bool has_ended(const struct start *start)
{
	struct pollfd watched = {.fd = start->process, .events = POLLIN};

	return poll(&watched, 1, LOOK_MS) > 0;
}

static int show_log(const struct start *start)
{
	char said[SAID_BYTES] = "", *rest = said, shown[SAID_BYTES];

	if (pread(start->log, said, sizeof(said) - 1, start->log_start) < 0)
		*said = '\0';
	fail(start, "it ended at once", 0);
	for (char *line = strtok_r(rest, "\n", &rest); line; line = strtok_r(rest, "\n", &rest)) {
		text_escape(shown, sizeof(shown), line);
		fprintf(stderr, "  %s\n", shown);
	}
	return EX_UNAVAILABLE;
}

static int await_listening(const struct start *start, const char *socket_path)
{
	int64_t deadline_ms = client_clock_ms() + START_MS;
	bool ended = false;

	while (open_socket(socket_path) < 0) {
		if (ended)
			return show_log(start);
		if (client_clock_ms() >= deadline_ms)
			return fail(start, "it does not listen after 5 s", 0);
		ended = has_ended(start);
	}
	return 0;
}

static int start_qad(struct start *start, const char *socket_path)
{
	char program[PATH_MAX];
	int error = qp_address_make_directory(&start->address);

	if (error < 0)
		return fail(start, error == -EPERM ? "its folder must be yours and closed to others" : "its folder",
			    -error);
	if (!open_log(start))
		return fail(start, start->log_path, errno);
	run_qad_find(program);
	error = make_process(start, program);
	int status = error < 0 ? fail(start, "no process", -error) : await_listening(start, socket_path);
	if (start->process >= 0)
		close(start->process);
	close(start->log);
	return status;
}

int run_qad_ensure(const char *socket_path, bool may_start)
{
	struct start start = {.process = -1};
	struct client client;
	int status = 0, error;

	client_init(&client);
	error = client_open(&client, socket_path);
	/* Nobody there, or an address that is of no use. */
	if (error < 0 && (error != -ENOTCONN || !may_start))
		status = client_fail(&client, error);
	client_finish(&client);
	if (error != -ENOTCONN || !may_start)
		return status;
	error = socket_path ? qp_address_set(&start.address, socket_path) : qp_address_of_server(&start.address);
	return error < 0 ? fail(&start, "its address", -error) : start_qad(&start, socket_path);
}
