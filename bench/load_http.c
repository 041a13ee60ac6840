/*
 * Readers over HTTP, all in one process of their own: each has one connection and asks at its own moments, spread over
 * the interval. They do as little as they can: the head of an answer is read for its length, the body is not even
 * copied out of the kernel. What they saw lies in memory that both processes share.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

enum { HEAD_BYTES = 2048, DISCARD_BYTES = 1 << 20 };

struct reader {
	int fd;
	char head[HEAD_BYTES];
	size_t head_bytes;
	size_t left_bytes; /* of the body */
	bool is_asking, is_in_body;
	uint64_t due_ns, asked_ns;
};

static int connect_to(unsigned port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		load_die("can not connect to qad's HTTP");
	return fd;
}

static void send_request(struct reader *reader, const char *path)
{
	char text[512];
	int bytes = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);

	if (send(reader->fd, text, (size_t)bytes, MSG_NOSIGNAL) != bytes)
		load_die("can not write to qad's HTTP");
	reader->is_asking = true;
	reader->is_in_body = false;
	reader->head_bytes = 0;
	reader->asked_ns = load_clock_ns();
}

/* The head is whole: how much body follows what of it came along. */
static void begin_body(struct reader *reader, const char *end)
{
	const char *length = strcasestr(reader->head, "\r\nContent-Length:");
	size_t here = reader->head_bytes - (size_t)(end - reader->head);

	if (strncmp(reader->head, "HTTP/1.1 200", 12) != 0 || length == NULL)
		load_die("qad's HTTP answers with an error");
	reader->left_bytes = strtoull(length + strlen("\r\nContent-Length:"), NULL, 10);
	if (here > reader->left_bytes)
		load_die("qad's HTTP answers with more than it said");
	reader->left_bytes -= here;
	reader->is_in_body = true;
}

/* Reads what is there; true when the answer is whole. */
static bool read_some(struct reader *reader, struct load_http_seen *seen)
{
	ssize_t bytes;

	if (reader->is_in_body) {
		bytes = recv(reader->fd, NULL, reader->left_bytes < DISCARD_BYTES ? reader->left_bytes : DISCARD_BYTES,
			     MSG_DONTWAIT | MSG_TRUNC);
	} else {
		bytes = recv(reader->fd, reader->head + reader->head_bytes, HEAD_BYTES - 1 - reader->head_bytes,
			     MSG_DONTWAIT);
	}
	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (bytes <= 0)
		load_die("qad ended a connection of HTTP");
	seen->bytes += (uint64_t)bytes;
	if (reader->is_in_body) {
		reader->left_bytes -= (size_t)bytes;
	} else {
		reader->head_bytes += (size_t)bytes;
		reader->head[reader->head_bytes] = '\0';
		const char *end = strstr(reader->head, "\r\n\r\n");
		if (end != NULL)
			begin_body(reader, end + 4);
	}
	return reader->is_in_body && reader->left_bytes == 0;
}

static void turn(struct reader *readers, struct pollfd *pollers, const struct load_options *options,
		 struct load_http_seen *seen)
{
	uint64_t now_ns = load_clock_ns(), next_ns = now_ns + 1000000000u;
	uint64_t interval_ns = (uint64_t)(1e9 / options->rate_hz);

	for (unsigned i = 0; i < options->http; i++) {
		struct reader *reader = &readers[i];

		if (!reader->is_asking && reader->due_ns <= now_ns) {
			send_request(reader, options->http_path);
			reader->due_ns += interval_ns;
		}
		if (reader->due_ns < next_ns && !reader->is_asking)
			next_ns = reader->due_ns;
	}
	poll(pollers, options->http, (int)((next_ns - now_ns) / 1000000) + 1);
	for (unsigned i = 0; i < options->http; i++) {
		if (pollers[i].revents == 0 || !read_some(&readers[i], seen))
			continue;
		readers[i].is_asking = false;
		seen->answers++;
		if (seen->is_measuring)
			histogram_add(&seen->latency, load_clock_ns() - readers[i].asked_ns);
	}
}

static void be_readers(const struct load_options *options, unsigned port, struct load_http_seen *seen)
{
	struct reader *readers = calloc(options->http, sizeof(*readers));
	struct pollfd *pollers = calloc(options->http, sizeof(*pollers));
	uint64_t now_ns = load_clock_ns();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (readers == NULL || pollers == NULL)
		load_die("out of memory");
	for (unsigned i = 0; i < options->http; i++) {
		readers[i].fd = connect_to(port);
		readers[i].due_ns = now_ns + (uint64_t)(1e9 / options->rate_hz * i / options->http);
		pollers[i] = (struct pollfd){.fd = readers[i].fd, .events = POLLIN};
	}
	while (true)
		turn(readers, pollers, options, seen);
}

struct load_http_seen *load_http_start(const struct load_options *options, const struct load_qad *qad, pid_t *pid)
{
	struct load_http_seen *seen =
		mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (seen == MAP_FAILED)
		load_die("out of memory");
	*pid = fork();
	if (*pid == 0)
		be_readers(options, load_qad_http_port(qad), seen);
	if (*pid < 0)
		load_die("can not fork");
	return seen;
}
