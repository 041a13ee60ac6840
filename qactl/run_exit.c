/*
 * The program leaves its figures in a file without a name, that libqa_malloc.so is told by QA_STATS_FILE
 * (libqa/malloc/exit_stats.c): nothing has to be asked of a process that is about to end. One that is ended by a signal
 * or _exit leaves none; then those that qad had last are shown, with their age. qactl waits meanwhile as if it were not
 * there: what is sent to it goes on to the program, what comes from the terminal reaches both anyway.
 */
#include "run_exit.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "client.h"
#include "output.h"
#include "run_look.h"
#include "run_program.h"
#include "size.h"
#include "stats_table.h"
#include "text.h"

enum { ROWS_MAX = 512 };

int run_exec(const char *path, char **words)
{
	char shown[PATH_MAX];
	int error;

	fflush(NULL);
	output_restore();
	execv(path, words);
	error = errno;
	if (error == ENOEXEC) {
		/* A script without a first line that says so: the shell's, as for execvp. */
		size_t count = 0;
		while (words[count])
			count++;
		char **shell = calloc(count + 2, sizeof(*shell));
		if (shell) {
			shell[0] = (char *)"sh";
			shell[1] = (char *)path;
			memcpy(shell + 2, words + 1, count * sizeof(*shell));
			execv("/bin/sh", shell);
			free(shell);
		}
	}
	text_escape(shown, sizeof(shown), path);
	output_say("%s: %s", shown, strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT;
}

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};

static void block_signals(sigset_t *before)
{
	sigset_t waited;

	sigemptyset(&waited);
	sigaddset(&waited, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++)
		sigaddset(&waited, forwarded[i]);
	sigprocmask(SIG_BLOCK, &waited, before);
}

static int await_signal(const sigset_t *waited, siginfo_t *info, int most_ms)
{
	struct timespec most = {.tv_sec = most_ms / 1000, .tv_nsec = most_ms % 1000 * 1000000L};

	return most_ms < 0 ? sigwaitinfo(waited, info) : sigtimedwait(waited, info, &most);
}

/* Until the child is gone; its wait status. */
static int await_child(pid_t child, struct run_look *look)
{
	siginfo_t info;
	sigset_t waited;
	int status;

	block_signals(NULL);
	sigprocmask(SIG_BLOCK, NULL, &waited);
	for (;;) {
		pid_t gone = waitpid(child, &status, WNOHANG);
		if (gone == child || (gone < 0 && errno != EINTR))
			return gone == child ? status : EX_OSERR << 8;
		run_look_when_due(look);
		int number = await_signal(&waited, &info, run_look_due_ms(look));
		/* By a process, not by the terminal or the kernel: only we have got it. */
		if (number > 0 && number != SIGCHLD && info.si_code <= 0 && info.si_pid != child)
			kill(child, number);
	}
}

static bool read_totals(const char *line, struct target *target)
{
	struct qp_totals *t = &target->totals;

	return sscanf(line,
		      "totals %31s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		      target->version, &target->rss_bytes, &t->page_size, &t->threads, &t->held_bytes, &t->used_bytes,
		      &t->cached_bytes, &t->thread_bytes, &t->partial_bytes, &t->empty_bytes, &t->slack_bytes,
		      &t->unreachable_bytes, &t->allocs, &t->frees) == 14;
}

static bool read_class(const char *line, struct qp_class *c)
{
	int name_at = 0;

	if (sscanf(line,
		   "class %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n",
		   &c->block_size, &c->pages, &c->held_bytes, &c->used_bytes, &c->cached_bytes, &c->thread_bytes,
		   &c->partial_bytes, &c->empty_bytes, &c->slack_bytes, &c->used_blocks, &c->allocs, &c->frees,
		   &name_at) != 12)
		return false;
	snprintf(c->name, sizeof(c->name), "%.*s", (int)strcspn(line + name_at, "\n"), line + name_at);
	return true;
}

/* Whether the figures are there, and whole. */
static bool read_figures(FILE *file, struct stats *stats)
{
	char line[512];
	bool has_totals = false;

	while (fgets(line, sizeof(line), file)) {
		if (strcmp(line, "end\n") == 0)
			return has_totals;
		if (strncmp(line, "totals ", 7) == 0)
			has_totals = read_totals(line, &stats->target);
		else if (stats->row_count < ROWS_MAX && read_class(line, &stats->rows[stats->row_count].figures))
			stats->row_count++;
	}
	return false;
}

static void name_target(struct target *target, const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	const struct passwd *user = getpwuid(getuid());

	target->inner_pid = target->pid;
	target->uid = getuid();
	snprintf(target->command, sizeof(target->command), "%s", base ? base + 1 : path);
	snprintf(target->name, sizeof(target->name), "%s", name ? name : "");
	if (user)
		snprintf(target->user, sizeof(target->user), "%s", user->pw_name);
	else
		snprintf(target->user, sizeof(target->user), "%" PRIu64, target->uid);
}

/* The figures that qad had last, in place of those of the end. */
static void print_last(struct run_look *look, const char *label, const char *why)
{
	char age[SIZE_TEXT];

	if (!look->last.rows) {
		output_say("%s, pid %" PRIu64 ": no figures of its end: %s, before qad knew any", label, look->pid,
			   why);
		return;
	}
	int64_t age_ms = client_clock_ms() - look->last_ms;
	size_format_age((uint64_t)age_ms + look->last.target.age_ms, age, sizeof(age));
	output_say("%s, pid %" PRIu64 ": no figures of its end: %s; those of %s before it:", label, look->pid, why,
		   age);
	look->last.target.age_ms = 0; /* it has been said */
	stats_print(stderr, &look->last);
}

static void print_figures(int fd, struct target *target, struct run_look *look, int status)
{
	struct stats stats = {.target = *target};
	FILE *file = fdopen(fd, "r");
	char label[TARGET_LABEL_BYTES];

	stats.rows = calloc(ROWS_MAX + 1, sizeof(*stats.rows));
	target_label(target->command, target->name, label, sizeof(label));
	if (file && stats.rows && fseek(file, 0, SEEK_SET) == 0 && read_figures(file, &stats))
		stats_print(stderr, &stats);
	else
		print_last(look, label,
			   WIFSIGNALED(status) ? "a signal ended it"
					       : "it left by _exit or became a program without libqa");
	free(stats.rows);
	if (file)
		fclose(file);
}

/* As the program ended. A second core file would be of no use. */
static int end_as(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	int number = WTERMSIG(status);
	sigset_t one;

	fflush(NULL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	return 128 + number;
}

int run_exit(const char *path, char **words, const char *name, const char *socket_path)
{
	struct run_look look;
	int fd = memfd_create("qactl-stats", MFD_CLOEXEC);
	int64_t started_ms = client_clock_ms();
	struct target target = {0};
	sigset_t before;

	fflush(NULL);
	block_signals(&before); /* before there is a child: nothing gets lost */
	pid_t child = fd < 0 ? -1 : fork();
	if (child == 0) {
		char variable[64];
		snprintf(variable, sizeof(variable), "%d:/proc/%d/fd/%d", getpid(), getppid(), fd);
		setenv("QA_STATS_FILE", variable, 1);
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(run_exec(path, words));
	}
	if (child < 0) {
		output_say("can not start a process: %s", strerror(errno));
		return EX_OSERR;
	}
	run_look_start(&look, socket_path, (uint64_t)child);
	int status = await_child(child, &look);
	target.pid = (uint64_t)child;
	target.uptime_s = (uint64_t)(client_clock_ms() - started_ms) / 1000;
	name_target(&target, words[0], name);
	print_figures(fd, &target, &look, status);
	run_look_finish(&look);
	return end_as(status);
}
