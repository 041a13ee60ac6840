/*
 * The protocol is a line of text in a datagram, so no library is needed for it. A lost one is no reason to stop. The
 * watchdog is fed by the loop itself, at half its time: a loop that hangs does not feed it.
 */
#include "manager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_SOCKET = 3 };

/* The number in a variable; 0 when there is none, or something else. */
static uint64_t read_variable(const char *name)
{
	const char *text = getenv(name);
	char *end;

	if (text == NULL || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' ? number : 0;
}

void manager_init(struct manager *manager)
{
	const char *path = getenv("NOTIFY_SOCKET");
	uint64_t watched = read_variable("WATCHDOG_PID");

	*manager = (struct manager){.socket_bytes = 0};
	if (path != NULL && (path[0] == '/' || path[0] == '@') && strlen(path) < sizeof(manager->socket)) {
		manager->socket_bytes = strlen(path);
		memcpy(manager->socket, path, manager->socket_bytes);
		if (path[0] == '@')
			manager->socket[0] = '\0';
	}
	if (watched == 0 || watched == (uint64_t)getpid())
		manager->watchdog_ms = read_variable("WATCHDOG_USEC") / 1000;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

static bool is_listening_socket(int fd)
{
	int listens = 0, type = 0, domain = 0;
	socklen_t size = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens == 1 &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
	       getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

static int set_flags(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return -errno;
	return 0;
}

int manager_take_socket(struct qp_address *address)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(name);
	uint64_t count = read_variable("LISTEN_FDS");
	bool is_ours = read_variable("LISTEN_PID") == (uint64_t)getpid();

	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDNAMES");
	if (!is_ours || count == 0)
		return -1;
	if (count > 1 || !is_listening_socket(FIRST_SOCKET))
		return -EINVAL;
	int error = set_flags(FIRST_SOCKET);
	if (error != 0)
		return error;
	if (getsockname(FIRST_SOCKET, (struct sockaddr *)&name, &size) != 0)
		return -errno;
	snprintf(address->path, sizeof(address->path), "%.*s", (int)QP_ADDRESS_BYTES, name.sun_path);
	return FIRST_SOCKET;
}

static void tell(const struct manager *manager, const char *text)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (manager->socket_bytes == 0)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	memcpy(address.sun_path, manager->socket, manager->socket_bytes);
	sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + manager->socket_bytes));
	close(fd);
}

static void on_timer(uv_timer_t *timer)
{
	tell(timer->data, "WATCHDOG=1");
}

void manager_ready(struct manager *manager, uv_loop_t *loop, const char *status)
{
	char text[256];

	snprintf(text, sizeof(text), "READY=1\nSTATUS=%s", status);
	tell(manager, text);
	if (manager->watchdog_ms == 0 || manager->socket_bytes == 0)
		return;
	uint64_t pause_ms = manager->watchdog_ms / 2 > 0 ? manager->watchdog_ms / 2 : 1;
	uv_timer_init(loop, &manager->timer);
	manager->timer.data = manager;
	uv_timer_start(&manager->timer, on_timer, pause_ms, pause_ms);
}

void manager_ends(struct manager *manager)
{
	tell(manager, "STOPPING=1");
	if (manager->timer.data != NULL)
		uv_close((uv_handle_t *)&manager->timer, NULL);
	manager->timer.data = NULL;
}
