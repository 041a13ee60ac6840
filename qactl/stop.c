/*
 * A signalfd, which is never read: who stops once stays stopped. A blocked signal would be queued even if it is
 * ignored, and an ignored SIGINT is how a shell protects its background jobs; so those are left alone.
 */
#include "stop.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

static void add_unless_ignored(sigset_t *set, int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
		sigaddset(set, number);
}

int stop_open(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	add_unless_ignored(&set, SIGINT);
	add_unless_ignored(&set, SIGTERM);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd >= 0)
		sigprocmask(SIG_BLOCK, &set, NULL);
	return fd;
}

bool stop_wait(int stop_fd, uint64_t wait_ms)
{
	struct pollfd poller = {.fd = stop_fd, .events = POLLIN};

	return poll(&poller, 1, wait_ms > INT_MAX ? INT_MAX : (int)wait_ms) > 0;
}
