/*
 * process.h - what the kernel says about a process: who is at the other end of a socket, and what /proc tells.
 *
 * A process is its pid and its start time together: a pid alone may have been given to another process since.
 */
#ifndef QAD_PROCESS_H
#define QAD_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "protocol.h"

/* Who connected. pid is 0 when the process is outside qad's pid namespace. */
struct identity {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* 0 or a negative errno. */
int identity_of_socket(int socket, struct identity *identity);

/* What does not change while a process image lives. The texts are UTF-8. */
struct process {
	uint64_t start_ticks; /* since boot */
	char command[QP_NAME_BYTES + 1];
	char *cgroup; /* never NULL; "" when /proc does not tell */
	char *exe;
};

/* 0; -ESRCH: there is no such process (any more); -ENOMEM; another negative errno when /proc can not be read. */
int process_init(struct process *process, pid_t pid);
void process_finish(struct process *process);

struct process_sample {
	uint64_t rss_bytes;
	uint64_t uptime_s;
};

/* What changes. 0; -ESRCH: the process ended, or its pid belongs to another one now; another negative errno. */
int process_sample(pid_t pid, uint64_t start_ticks, struct process_sample *sample);

#endif
