/*
 * stats-latency - how long a `stats` takes from a client's write to the whole answer, through qad and the target.
 *
 * One connection, one question at a time, on the real socket; each round trip is timed alone, the first ones are left
 * out. What is printed are percentiles of all: nothing is averaged away.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "address.h"
#include "buffer.h"
#include "frame.h"
#include "protocol.h"
#include "read.h"
#include "write.h"

enum { COUNT_DEFAULT = 10000, COUNT_MAX = 10000000, WARM_UP = 100, READ_BYTES = 64 << 10 };

struct client {
	int fd;
	struct qp_buffer in, out;
};

static void die(int code, const char *what)
{
	fprintf(stderr, "stats-latency: %s\n", what);
	exit(code);
}

static bool connect_to(struct client *client, const struct qp_address *address)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	strcpy(to.sun_path, address->path);
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		return false;
	if (connect(client->fd, (const struct sockaddr *)&to, sizeof to) == 0)
		return true;
	close(client->fd);
	return false;
}

/* Connects to the path, or where a client looks for qad; ends the program when nobody listens. */
static void client_open(struct client *client, const char *path)
{
	struct qp_address addresses[QP_ADDRESSES];
	int count = path ? qp_address_set(&addresses[0], path) : qp_address_candidates(addresses);
	if (count < 0)
		die(EX_USAGE, "the socket's path is too long");
	if (path)
		count = 1;
	qp_buffer_init(&client->in, QP_FRAME_ANSWER_BYTES);
	qp_buffer_init(&client->out, QP_FRAME_CLIENT_BYTES);
	for (int i = 0; i < count; i++) {
		if (connect_to(client, &addresses[i]))
			return;
	}
	fprintf(stderr, "stats-latency: no qad listens at %s: %s\n", addresses[count - 1].path, strerror(errno));
	exit(EX_UNAVAILABLE);
}

/* Writes what is in client->out, waits for one whole frame, and checks that it is no error. */
static void client_ask(struct client *client)
{
	if (client->out.failed ||
	    write(client->fd, client->out.data, client->out.used_bytes) != (ssize_t)client->out.used_bytes)
		die(EX_PROTOCOL, "cannot write to qad");
	qp_buffer_reset(&client->out);

	size_t frame_bytes = 0;
	enum qp_frame state;
	while ((state = qp_frame_scan(client->in.data, client->in.used_bytes, QP_FRAME_ANSWER_BYTES, &frame_bytes)) ==
	       QP_FRAME_PART) {
		uint8_t *room = qp_buffer_reserve(&client->in, READ_BYTES);
		ssize_t got = room ? read(client->fd, room, READ_BYTES) : -1;
		if (got <= 0)
			die(EX_PROTOCOL, "qad closed the connection");
		client->in.used_bytes += (size_t)got;
	}
	if (state != QP_FRAME_WHOLE)
		die(EX_PROTOCOL, qp_frame_text(state));

	struct qp_message answer;
	if (qp_message_decode(&answer, client->in.data, frame_bytes) != 0)
		die(EX_PROTOCOL, "qad's answer is no message");
	if (answer.has_error) {
		char text[256];
		struct qp_reader reader = qp_reader_of(&answer.body);
		qp_read_string_or(&reader, "message", text, sizeof text, "an error without words");
		die(EX_NOUSER, text);
	}
	qp_message_finish(&answer);
	qp_buffer_consume(&client->in, frame_bytes);
}

static void client_hello(struct client *client)
{
	qp_write_request(&client->out, 0, "hello");
	qp_write_map(&client->out, 3);
	qp_write_key_u64(&client->out, "protocol", QP_PROTOCOL);
	qp_write_key_string(&client->out, "role", "client");
	qp_write_key_string(&client->out, "version", QA_VERSION_TEXT);
	client_ask(client);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t client_stats_ns(struct client *client, uint32_t id, uint64_t pid)
{
	uint64_t start_ns = now_ns();
	qp_write_request(&client->out, id, "stats");
	qp_write_map(&client->out, 1);
	qp_write_key_u64(&client->out, "pid", pid);
	client_ask(client);
	return now_ns() - start_ns;
}

static int compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

/* In microseconds, of sorted nanoseconds. */
static double percentile_us(const uint64_t *sorted_ns, size_t count, double percent)
{
	size_t place = (size_t)((double)(count - 1) * percent / 100.0);
	return (double)sorted_ns[place] / 1000.0;
}

static void report(const uint64_t *sorted_ns, size_t count, bool json)
{
	const char *format =
		json ? "{\"count\": %zu, \"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f, \"max_us\": %.1f}\n"
		     : "%zu round trips of stats, in microseconds: p50 %.1f, p99 %.1f, p99.9 %.1f, most %.1f\n";
	printf(format, count, percentile_us(sorted_ns, count, 50), percentile_us(sorted_ns, count, 99),
	       percentile_us(sorted_ns, count, 99.9), percentile_us(sorted_ns, count, 100));
}

static void usage(FILE *stream)
{
	fprintf(stream,
		"usage: stats-latency [--socket PATH] [--count N] [--json] PID\n\n"
		"Asks qad for the figures of the target PID, N times one after the other (%d when not told), and "
		"prints\n"
		"how long that took.\n",
		COUNT_DEFAULT);
}

/* A whole decimal number from 1 to most; ends the program otherwise. */
static uint64_t parse_number(const char *text, uint64_t most)
{
	char *end;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || number == 0 || number > most) {
		fprintf(stderr, "stats-latency: '%s' is not a number from 1 to %ju\n", text, (uintmax_t)most);
		exit(EX_USAGE);
	}
	return number;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"socket", required_argument, NULL, 's'},
						{"count", required_argument, NULL, 'n'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const char *path = NULL;
	size_t count = COUNT_DEFAULT;
	bool json = false;
	int option;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 's')
			path = optarg;
		else if (option == 'n')
			count = parse_number(optarg, COUNT_MAX);
		else if (option == 'j')
			json = true;
		else {
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? EX_OK : EX_USAGE;
		}
	}
	if (argc - optind != 1) {
		usage(stderr);
		return EX_USAGE;
	}
	uint64_t pid = parse_number(argv[optind], INT32_MAX);

	uint64_t *times_ns = calloc(count, sizeof *times_ns);
	if (!times_ns)
		die(EX_OSERR, "out of memory");
	struct client client;
	client_open(&client, path);
	client_hello(&client);
	uint32_t id = 1;
	for (int i = 0; i < WARM_UP; i++)
		client_stats_ns(&client, id++, pid);
	for (size_t i = 0; i < count; i++)
		times_ns[i] = client_stats_ns(&client, id++, pid);

	qsort(times_ns, count, sizeof *times_ns, compare_u64);
	report(times_ns, count, json);
	free(times_ns);
	close(client.fd);
	qp_buffer_finish(&client.in);
	qp_buffer_finish(&client.out);
	return EX_OK;
}
