/*
 * process.h - what the kernel says about a process: who is at the other end of a socket, and what /proc tells.
 *
 * A process is its pid and its start time together: a pid alone may have been given to another process since.
 */
#ifndef QAD_PROCESS_H
#define QAD_PROCESS_H

#include <stdbool.h>
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

/*
 * Whether the process that connected still lives. What was read in /proc about its pid before is about that process
 * then, and not about a later one with the same pid. Kernels before 6.5 can not tell; then it is taken to live if that
 * pid is a process of the same user, so that at least nobody can speak for another user's.
 */
bool identity_is_alive(int socket, const struct identity *identity);

struct process {
	pid_t pid;
	uint64_t start_ticks;            /* since boot */
	int statm;                       /* its /proc/<pid>/statm, or -1 */
	char command[QP_NAME_BYTES + 1]; /* the texts are UTF-8 */
	char *cgroup;                    /* never NULL; "" when /proc does not tell */
	char *exe;
};

/*
 * Reads what does not change while the image of the process lives. With keeps_file its samples will cost less, and it
 * holds a descriptor. 0; -ESRCH: there is no such process (any more); -ENOMEM; another negative errno when /proc can
 * not be read.
 */
int process_init(struct process *process, pid_t pid, bool keeps_file);
void process_finish(struct process *process);

struct process_sample {
	uint64_t rss_bytes;
	uint64_t uptime_s;
};

/* What changes. 0; -ESRCH: the process ended, also when its pid belongs to another one now; another negative errno. */
int process_sample(const struct process *process, struct process_sample *sample);

#endif
