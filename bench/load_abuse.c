/*
 * Some sockets, each in turn closed and opened again, and then one of four faults: to say nothing, garbage, half a
 * hello, or to flood before hello and read nothing.
 */
#include "load.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ABUSERS = 16 };

/* A process that floods, breaks frames, says nothing and never reads, over and over. */
pid_t load_abuse_start(const char *path)
{
	static const uint8_t garbage[4096] = {0xc1};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	int sockets[ABUSERS];
	for (int i = 0; i < ABUSERS; i++)
		sockets[i] = -1;
	for (unsigned round = 0;; round++) {
		int *fd = &sockets[round % ABUSERS];
		struct timespec pause = {.tv_nsec = 1000000};

		if (*fd >= 0)
			close(*fd);
		*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(*fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
			if (round % 4 == 1)
				send(*fd, garbage, sizeof(garbage), MSG_NOSIGNAL);
			else if (round % 4 == 2)
				send(*fd, "\x94\x00\x01\xa5hel", 7, MSG_NOSIGNAL);
			for (int i = 0; i < 50 && round % 4 == 3; i++)
				send(*fd, "\x94\x00\x01\xa2ps\x80\x94\x00\x02\xa2ps\x80", 14, MSG_NOSIGNAL);
		}
		nanosleep(&pause, NULL);
	}
}
