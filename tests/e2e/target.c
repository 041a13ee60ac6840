/*
 * A program on libqa that does as the end-to-end tests tell it: one command a line on standard input, one answer a
 * line on standard output, "ok ..." or "error ...". Between commands all its threads sleep in read(2).
 *
 *   alloc GROUP COUNT SIZE ALIGN   qa_alloc; answers usable=BYTES of the whole group
 *   malloc GROUP COUNT SIZE        the same with qa_malloc
 *   free GROUP [EVERY]             check and free, but each EVERYth; answers bad=BLOCKS
 *   check GROUP                    answers blocks=N bad=BLOCKS
 *   thread N, end N                start a thread; end it and wait until it is gone
 *   on N COMMAND                   obey the command in that thread
 *   load THREADS OPERATIONS [FORKS]  see target_load.c; answers when it is over
 *   late-thread COUNT SIZE         see target_late.c
 *   late-exit COUNT SIZE           the same; the answer "ok used=..." comes at the exit
 *   fork, child COMMAND            fork, answers pid=PID; obey in the child
 *   spawn                          start a program; answers fds=N, the descriptors it has beside the standard three
 *   agent start|stop, trim         qa_agent_start, qa_agent_stop, qa_trim
 *   agent stop cancelled           qa_agent_stop in a thread that is to be cancelled
 *   become UID                     setuid, see target_sandbox.c
 *   chroot PATH                    chroot, where there is no /proc
 *   close-all                      close every descriptor from 3 on, then occupy these numbers; answers occupied=N
 *   occupied                       answers bytes=N that somebody else wrote into the occupied ones
 *   setuid UID, exec               becomes that user; starts this program anew (then "ok ready" comes again)
 *   signals, counts                count every signal from now on; answers signals=N eintr=N
 *   quit
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <qa.h>

enum { LINE_SIZE = 512, WORKERS = 64, OCCUPIED = 64 };

/* Both ends of a pair of pipes to whoever obeys: a thread of ours, or a forked child. */
struct line_to {
	int commands, answers;
};

struct worker {
	pthread_t thread;
	struct line_to main_end, own_end;
	bool runs;
};

static struct worker workers[WORKERS];
static struct line_to child;
static atomic_int signal_count, eintr_count;
static int occupied[OCCUPIED];
static size_t occupied_count;

static void obey(char *command, char answer[LINE_SIZE]);

static void answer_status(char answer[LINE_SIZE], int status)
{
	if (status < 0)
		snprintf(answer, LINE_SIZE, "error %s", strerror(-status));
	else
		snprintf(answer, LINE_SIZE, "ok");
}

/* Reads a line byte by byte, without its newline; false at the end of the input. A signal is counted and ignored. */
static bool line_read(int fd, char line[LINE_SIZE])
{
	size_t length = 0;
	while (length < LINE_SIZE - 1) {
		ssize_t got = read(fd, &line[length], 1);
		if (got < 0 && errno == EINTR) {
			atomic_fetch_add(&eintr_count, 1);
			continue;
		}
		if (got <= 0)
			return false;
		if (line[length] == '\n')
			break;
		length++;
	}
	line[length] = '\0';
	return true;
}

static void line_write(int fd, const char *line)
{
	if (dprintf(fd, "%s\n", line) < 0)
		_exit(3);
}

static void obey_all(struct line_to from)
{
	char command[LINE_SIZE];
	char answer[LINE_SIZE];
	while (line_read(from.commands, command) && strcmp(command, "quit") != 0) {
		obey(command, answer);
		line_write(from.answers, answer);
	}
}

static int line_pair(struct line_to *asker, struct line_to *obeyer)
{
	int commands[2];
	int answers[2];
	if (pipe2(commands, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
		return -errno;
	*asker = (struct line_to){commands[1], answers[0]};
	*obeyer = (struct line_to){commands[0], answers[1]};
	return 0;
}

static void line_ask(struct line_to to, const char *command, char answer[LINE_SIZE])
{
	line_write(to.commands, command);
	if (!line_read(to.answers, answer))
		snprintf(answer, LINE_SIZE, "error nobody answers");
}

static void *worker_run(void *argument)
{
	struct worker *worker = argument;
	obey_all(worker->own_end);
	return NULL;
}

static int worker_start(struct worker *worker)
{
	int status = line_pair(&worker->main_end, &worker->own_end);
	if (status == 0)
		status = -pthread_create(&worker->thread, NULL, worker_run, worker);
	worker->runs = status == 0;
	return status;
}

static int worker_end(struct worker *worker)
{
	line_write(worker->main_end.commands, "quit");
	int status = -pthread_join(worker->thread, NULL);
	close(worker->main_end.commands);
	close(worker->main_end.answers);
	close(worker->own_end.commands);
	close(worker->own_end.answers);
	worker->runs = false;
	return status;
}

/* The child's only thread obeys its parent until it is told to quit, or the parent is gone. */
static int child_fork(void)
{
	struct line_to own_end;
	int status = line_pair(&child, &own_end);
	if (status < 0)
		return status;
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(child.commands);
		close(child.answers);
		for (int i = 0; i < WORKERS; i++)
			workers[i].runs = false;
		obey_all(own_end);
		_exit(0);
	}
	close(own_end.commands);
	close(own_end.answers);
	return pid;
}

/* How many descriptors a program gets that we start. It is this program itself, which then only counts; see main. */
static int spawn_count(void)
{
	extern char **environ;
	char *arguments[] = {"target", "--count-fds", NULL};
	pid_t pid;
	int status;
	int error = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ);
	if (error)
		return -error;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

static int fds_count(void)
{
	int count = 0;
	for (int fd = 3; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* What a daemon does: close all that is open. Then files of our own take the numbers that others may still use. */
static void fds_close_all(void)
{
	close_range(3, ~0u, 0);
	for (occupied_count = 0; occupied_count < OCCUPIED; occupied_count++) {
		occupied[occupied_count] = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (occupied[occupied_count] < 0)
			break;
	}
}

static long long fds_occupied_bytes(void)
{
	long long bytes = 0;
	for (size_t i = 0; i < occupied_count; i++) {
		struct stat file;
		if (fstat(occupied[i], &file) != 0 || !S_ISREG(file.st_mode))
			return -1;
		bytes += file.st_size;
	}
	return bytes;
}

static void signal_note(int number)
{
	(void)number;
	atomic_fetch_add(&signal_count, 1);
}

/* Without SA_RESTART, so that an interrupted system call says so. Not SIGCONT, which the tests themselves send. */
static void signals_count(void)
{
	struct sigaction action = {.sa_handler = signal_note};
	for (int number = 1; number < NSIG; number++) {
		if (number != SIGSEGV && number != SIGBUS && number != SIGABRT && number != SIGILL &&
		    number != SIGFPE && number != SIGCONT)
			sigaction(number, &action, NULL); /* those that can not be caught say no */
	}
}

/* Commands about blocks; false when it is none of them. */
static bool obey_blocks(const char *command, char answer[LINE_SIZE])
{
	unsigned group;
	size_t count;
	size_t size = 0;
	size_t align = 0;
	int status;
	if (sscanf(command, "alloc %u %zu %zu %zu", &group, &count, &size, &align) == 4 && group < GROUPS && align) {
		status = blocks_add(group, count, size, align);
	} else if (sscanf(command, "malloc %u %zu %zu", &group, &count, &size) == 3 && group < GROUPS) {
		status = blocks_add(group, count, size, 0);
	} else if (sscanf(command, "free %u %zu", &group, &size) >= 1 && group < GROUPS) {
		snprintf(answer, LINE_SIZE, "ok bad=%zu", blocks_remove(group, size));
		return true;
	} else if (sscanf(command, "check %u", &group) == 1 && group < GROUPS) {
		snprintf(answer, LINE_SIZE, "ok blocks=%zu bad=%zu", blocks_count(group), blocks_check(group));
		return true;
	} else {
		return false;
	}
	if (status < 0)
		answer_status(answer, status);
	else
		snprintf(answer, LINE_SIZE, "ok usable=%zu", blocks_usable_bytes(group));
	return true;
}

/* Commands about threads and load; false when it is none of them. */
static bool obey_threads(const char *command, char answer[LINE_SIZE])
{
	unsigned number;
	unsigned forks = 0;
	unsigned long long operations;
	size_t count;
	size_t size;
	int skipped = 0;
	if (sscanf(command, "thread %u", &number) == 1 && number < WORKERS && !workers[number].runs) {
		answer_status(answer, worker_start(&workers[number]));
	} else if (sscanf(command, "end %u", &number) == 1 && number < WORKERS && workers[number].runs) {
		answer_status(answer, worker_end(&workers[number]));
	} else if (sscanf(command, "on %u %n", &number, &skipped) == 1 && skipped && number < WORKERS &&
		   workers[number].runs) {
		line_ask(workers[number].main_end, command + skipped, answer);
	} else if (sscanf(command, "load %u %llu %u", &number, &operations, &forks) >= 2) {
		struct load_result result = load_run(number, operations, forks);
		snprintf(answer, LINE_SIZE, "ok checked=%ju bad=%ju failed=%ju children_bad=%ju",
			 (uintmax_t)result.checked, (uintmax_t)result.bad, (uintmax_t)result.failed,
			 (uintmax_t)result.children_bad);
	} else if (sscanf(command, "late-thread %zu %zu", &count, &size) == 2) {
		answer_status(answer, late_run_thread(count, size));
	} else if (sscanf(command, "late-exit %zu %zu", &count, &size) == 2) {
		answer_status(answer, late_arm_exit(count, size));
	} else {
		return false;
	}
	return true;
}

static void answer_number(char answer[LINE_SIZE], const char *key, long long number)
{
	if (number < 0)
		answer_status(answer, (int)number);
	else
		snprintf(answer, LINE_SIZE, "ok %s=%lld", key, number);
}

/* In a thread that is to be cancelled at the first call where that may happen. */
static void *agent_stop_when_cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	qa_agent_stop();
	return NULL;
}

static int agent_stop_cancelled(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, agent_stop_when_cancelled, NULL);
	return error ? -error : -pthread_join(thread, NULL);
}

/* Commands about the process; false when it is none of them. */
static bool obey_process(const char *command, char answer[LINE_SIZE])
{
	if (strcmp(command, "fork") == 0) {
		answer_number(answer, "pid", child_fork());
	} else if (strncmp(command, "child ", 6) == 0 && child.commands) {
		line_ask(child, command + 6, answer);
	} else if (strcmp(command, "spawn") == 0) {
		answer_number(answer, "fds", spawn_count());
	} else if (strcmp(command, "agent start") == 0) {
		answer_status(answer, qa_agent_start());
	} else if (strcmp(command, "agent stop") == 0) {
		qa_agent_stop();
		answer_status(answer, 0);
	} else if (strcmp(command, "agent stop cancelled") == 0) {
		answer_status(answer, agent_stop_cancelled());
	} else if (strncmp(command, "become ", 7) == 0) {
		answer_status(answer, sandbox_become((unsigned)strtoul(command + 7, NULL, 10)));
	} else if (strcmp(command, "trim") == 0) {
		answer_status(answer, qa_trim(NULL, NULL));
	} else if (strncmp(command, "chroot ", 7) == 0) {
		answer_status(answer, chroot(command + 7) == 0 ? 0 : -errno);
	} else if (strncmp(command, "setuid ", 7) == 0) {
		answer_status(answer, setuid((uid_t)atoi(command + 7)) == 0 ? 0 : -errno);
	} else if (strcmp(command, "exec") == 0) {
		execl("/proc/self/exe", "target", (char *)NULL);
		answer_status(answer, -errno);
	} else if (strcmp(command, "close-all") == 0) {
		fds_close_all();
		answer_number(answer, "occupied", (long long)occupied_count);
	} else if (strcmp(command, "occupied") == 0) {
		answer_number(answer, "bytes", fds_occupied_bytes());
	} else if (strcmp(command, "signals") == 0) {
		signals_count();
		answer_status(answer, 0);
	} else if (strcmp(command, "counts") == 0) {
		snprintf(answer, LINE_SIZE, "ok signals=%d eintr=%d", atomic_load(&signal_count),
			 atomic_load(&eintr_count));
	} else {
		return false;
	}
	return true;
}

static void obey(char *command, char answer[LINE_SIZE])
{
	if (!obey_blocks(command, answer) && !obey_threads(command, answer) && !obey_process(command, answer))
		snprintf(answer, LINE_SIZE, "error no such command: %.100s", command);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--count-fds") == 0)
		_exit(fds_count());
	if (argc == 2 && strcmp(argv[1], "--sandbox") == 0)
		_exit(-sandbox_enter(argv[0]));
	line_write(STDOUT_FILENO, "ok ready");
	obey_all((struct line_to){STDIN_FILENO, STDOUT_FILENO});
	return 0;
}
