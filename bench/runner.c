/*
 * fork and exec, with the library to preload in the environment and the agent off, so that nothing but the work runs in
 * the process. The answer is one JSON object on a pipe. A process that hangs is ended by an alarm it inherits.
 */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 120
#define TEXT_SIZE 2048

static bool program_path(const char *name, char *path, size_t size)
{
	if (strchr(name, '/'))
		return snprintf(path, size, "%s", name) < (int)size;
	ssize_t length = readlink("/proc/self/exe", path, size - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	char *slash = strrchr(path, '/');
	return slash && snprintf(slash + 1, size - (size_t)(slash + 1 - path), "%s", name) <
				(int)(size - (size_t)(slash + 1 - path));
}

/* In the child of fork; does not return. */
static void run_program(const struct runner_order *order, const char *path, int output, int errors)
{
	const char *arguments[8] = {order->allocator->program, "--workload", order->workload->name, "--work-ms"};
	char work_ms[32];
	snprintf(work_ms, sizeof work_ms, "%.3f", order->work_ms);
	arguments[4] = work_ms;
	if (order->allocator->expect) {
		arguments[5] = "--expect";
		arguments[6] = order->allocator->expect;
	}
	dup2(output, STDOUT_FILENO);
	if (errors >= 0)
		dup2(errors, STDERR_FILENO);
	setenv("QA_AGENT", "off", 1);
	setenv("QA_CHECK", "off", 1); /* else on where Valgrind looks */
	unsetenv("LD_PRELOAD");
	if (order->allocator->library)
		setenv("LD_PRELOAD", order->allocator->library, 1);
	alarm(LIMIT_S);
	execv(path, (char *const *)arguments);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", path, strerror(errno));
	_exit(127);
}

static void read_all(int file, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;
	while (length + 1 < size &&
	       ((got = read(file, text + length, size - 1 - length)) > 0 || (got < 0 && errno == EINTR)))
		length += got > 0 ? (size_t)got : 0;
	text[length] = '\0';
}

static bool parse_sample(const char *text, struct sample *sample)
{
	json_t *root = json_loads(text, 0, NULL);
	bool is_whole = json_unpack(root, "{s:F, s:F, s:F, s:F, s:F, s:F}", "ns_per_op", &sample->ns_per_op,
				    "peak_rss_bytes", &sample->peak_rss_bytes, "after_rss_bytes",
				    &sample->after_rss_bytes, "base_rss_bytes", &sample->base_rss_bytes,
				    "live_page_bytes", &sample->live_page_bytes, "trim_ms", &sample->trim_ms) == 0;
	json_decref(root);
	return is_whole && sample->ns_per_op > 0;
}

static void describe_failure(int status, const char *errors, char *message, size_t size)
{
	const char *end = strchrnul(errors, '\n');
	if (WIFSIGNALED(status))
		snprintf(message, size, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (end > errors)
		snprintf(message, size, "%.*s", (int)(end - errors), errors);
	else
		snprintf(message, size, "exit status %d, no figures", WEXITSTATUS(status));
}

/* Waits for the program, and reads what it said. */
static bool take_answer(pid_t pid, int output, int errors, struct sample *sample, char *message, size_t size)
{
	char text[TEXT_SIZE], said[TEXT_SIZE] = "";
	int status = 0;
	read_all(output, text, sizeof text);
	if (errors >= 0)
		read_all(errors, said, sizeof said);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0 && parse_sample(text, sample))
		return true;
	describe_failure(status, said, message, size);
	return false;
}

bool runner_run(const struct runner_order *order, struct sample *sample, char *message, size_t message_size)
{
	char path[4096];
	int output[2] = {-1, -1}, errors[2] = {-1, -1};
	bool is_done = false;
	if (!program_path(order->allocator->program, path, sizeof path)) {
		snprintf(message, message_size, "cannot find out where this program is");
		return false;
	}
	if (access(path, X_OK) != 0) {
		snprintf(message, message_size, "not built: %s", order->allocator->program);
		return false;
	}
	if (pipe2(output, O_CLOEXEC) != 0 || (order->is_quiet && pipe2(errors, O_CLOEXEC) != 0)) {
		snprintf(message, message_size, "pipe: %s", strerror(errno));
		goto out;
	}
	pid_t pid = fork();
	if (pid < 0) {
		snprintf(message, message_size, "fork: %s", strerror(errno));
		goto out;
	}
	if (pid == 0)
		run_program(order, path, output[1], errors[1]);
	close(output[1]);
	close(errors[1]);
	output[1] = errors[1] = -1;
	is_done = take_answer(pid, output[0], errors[0], sample, message, message_size);
out:
	for (int i = 0; i < 2; i++) {
		if (output[i] >= 0)
			close(output[i]);
		if (errors[i] >= 0)
			close(errors[i]);
	}
	return is_done;
}
