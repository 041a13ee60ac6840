/*
 * Each target is a process of its own with libqa in it, since a target is a process to qad: nothing of it is simulated
 * but its load, some blocks of a few sizes. It was forked before the agent of this program started, and starts its own.
 */
#include "load.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qa.h"

enum { BLOCKS = 300, SIZES = 12 };

static void be_a_target(void)
{
	static void *blocks[BLOCKS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = qa_malloc((size_t)(i % SIZES + 1) * 24);
	for (int i = 0; i < BLOCKS; i += 3)
		qa_free(blocks[i]);
	if (qa_agent_start() != 0)
		_exit(1);
	while (true)
		pause();
}

void load_targets_start(struct load_targets *targets, unsigned count, const char *socket_path)
{
	setenv("QAD_SOCKET", socket_path, 1);
	targets->pids = calloc(count > 0 ? count : 1, sizeof(*targets->pids));
	targets->count = 0;
	if (targets->pids == NULL)
		load_die("out of memory");
	while (targets->count < count) {
		pid_t pid = fork();

		if (pid == 0)
			be_a_target();
		if (pid < 0)
			load_die("can not make so many processes (ulimit -u, pid_max)");
		targets->pids[targets->count++] = pid;
	}
}

void load_targets_end(struct load_targets *targets)
{
	for (unsigned i = 0; i < targets->count; i++)
		kill(targets->pids[i], SIGKILL);
	for (unsigned i = 0; i < targets->count; i++)
		waitpid(targets->pids[i], NULL, 0);
	free(targets->pids);
}
