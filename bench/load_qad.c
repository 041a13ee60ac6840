/*
 * qad is started with limits that fit the load, in a folder of its own. What it costs is read from /proc before and
 * after, by somebody else than qad.
 */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void load_die(const char *what)
{
	fprintf(stderr, "qad-load: %s\n", what);
	exit(1);
}

uint64_t load_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_listening(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	bool is_connected = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return is_connected;
}

static void run_qad(const struct load_qad *qad, const struct load_options *options)
{
	char log[96];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(log, sizeof(log), "%s/log", qad->directory);
	int fd = open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		dup2(fd, STDERR_FILENO);
	const char *more[3] = {NULL};
	unsigned count = 0;
	if (options->http > 0) {
		more[count++] = "--http=127.0.0.1:0";
		more[count++] = "--limit=http_connections=2000";
	}
	if (options->has_history)
		more[count] = "--history";
	execl(options->qad, "qad", "--socket", qad->path, "--limit", "connections_of_user=16384", "--limit",
	      "connections=16384", "--limit", "memory_of_user_bytes=1024M", more[0], more[1], more[2], (char *)NULL);
	_exit(127);
}

void load_qad_start(struct load_qad *qad, const struct load_options *options)
{
	struct timespec pause = {.tv_nsec = 1000000};

	strcpy(qad->directory, "/tmp/qad-load-XXXXXX");
	if (mkdtemp(qad->directory) == NULL)
		load_die("can not make a folder in /tmp");
	snprintf(qad->path, sizeof(qad->path), "%s/qad.sock", qad->directory);
	qad->pid = fork();
	if (qad->pid == 0)
		run_qad(qad, options);
	for (int tries = 0; !is_listening(qad->path); tries++) {
		if (tries > 10000 || waitpid(qad->pid, NULL, WNOHANG) != 0)
			load_die("qad does not start; name it with --qad");
		nanosleep(&pause, NULL);
	}
}

void load_qad_end(struct load_qad *qad)
{
	char log[96];
	int status = 0;

	kill(qad->pid, SIGTERM);
	if (waitpid(qad->pid, &status, 0) != qad->pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fprintf(stderr, "qad-load: qad did not end well (status %d); its log is in %s\n", status,
			qad->directory);
	else {
		snprintf(log, sizeof(log), "%s/log", qad->directory);
		unlink(log);
		rmdir(qad->directory);
	}
}

unsigned load_qad_http_port(const struct load_qad *qad)
{
	char path[96], text[1024] = "";
	unsigned port = 0;

	snprintf(path, sizeof(path), "%s/log", qad->directory);
	FILE *file = fopen(path, "re");
	while (file != NULL && port == 0 && fgets(text, sizeof(text), file) != NULL)
		if (sscanf(text, "qad: HTTP at http://127.0.0.1:%u/", &port) != 1)
			port = 0;
	if (file != NULL)
		fclose(file);
	if (port == 0)
		load_die("qad does not say where its HTTP is");
	return port;
}

struct load_usage load_qad_usage(const struct load_qad *qad)
{
	char path[64], text[1024];
	unsigned long user = 0, kernel = 0, pages = 0;
	struct load_usage usage = {0};

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)qad->pid);
	FILE *file = fopen(path, "re");
	if (file == NULL || fgets(text, sizeof(text), file) == NULL)
		load_die("qad is gone");
	fclose(file);
	const char *at = strrchr(text, ')');
	if (at == NULL ||
	    sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %*u %*u %lu",
		   &user, &kernel, &pages) != 3)
		load_die("/proc/PID/stat is not understood");
	usage.cpu_us = (uint64_t)(user + kernel) * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	usage.rss_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return usage;
}
