/*
 * qad-load - what qad costs under load: its processor time and memory, and how long its answers take meanwhile.
 *
 * It starts a qad, as many targets as told (each a process with the real agent), and clients that each watch all
 * targets. One more client, the prober, asks for `stats` of one target after the other, a hundred times a second, and
 * for `ps` once a second; its latencies are what is reported. With --abuse, connections that break the protocol go on
 * meanwhile.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "protocol.h"
#include "qa.h"
#include "read.h"
#include "write.h"

enum { PROBE_NS = 10000000, PS_EVERY = 100 };

static const char help[] = "Usage: qad-load [OPTION]...\n"
			   "Measures qad under load; it starts a qad, targets and clients of its own.\n"
			   "\n"
			   "  --targets N    processes with the real agent, 1 to 8000 (default 10)\n"
			   "  --clients N    that each watch all targets, 0 to 1000 (default 1)\n"
			   "  --rate HZ      of each watch, 0.001 to 10 (default 1)\n"
			   "  --seconds S    to measure, after all is warm, 1 to 3600 (default 10)\n"
			   "  --http N       readers over HTTP, each of one page at that rate, 0 to 1000 (default 0)\n"
			   "  --http-path P  what they read (default /metrics)\n"
			   "  --no-probe     no stats and ps meanwhile, which cost too\n"
			   "  --history      qad records all targets\n"
			   "  --abuse        connections that break the protocol go on meanwhile\n"
			   "  --qad PATH     the qad (default: the one of this build)\n"
			   "  --json         one object\n"
			   "\n"
			   "Exit status: 0 done; 1 something did not work; 64 wrong usage.\n";

/* Asks and waits; fills the reader with the result. The message is finished by the caller. */
static void ask(struct load_client *client, struct qp_message *message, size_t *frame_bytes)
{
	load_client_send(client);
	load_client_wait(client, frame_bytes);
	if (qp_message_decode(message, client->in.data, *frame_bytes) != 0 || message->has_error)
		load_die("qad answers with an error");
}

static void read_health(struct load_client *client, struct load_measured *measured, uint64_t *targets)
{
	struct qp_message message;
	size_t frame_bytes;

	qp_write_request(&client->out, ++client->last_id, "health");
	qp_write_map(&client->out, 0);
	ask(client, &message, &frame_bytes);
	struct qp_reader reader = qp_reader_of(&message.body);
	*targets = qp_read_u64(&reader, "targets");
	measured->dropped_notifications = qp_read_u64(&reader, "dropped_notifications");
	measured->dropped_peers = qp_read_u64(&reader, "dropped_peers");
	measured->history_bytes = qp_read_u64(&reader, "history_bytes");
	measured->questions = qp_read_u64(&reader, "questions");
	measured->http_rounds = qp_read_u64_or(&reader, "http_rounds", 0);
	qp_message_finish(&message);
	qp_buffer_consume(&client->in, frame_bytes);
}

static uint64_t timed(struct load_client *client)
{
	uint64_t began_ns = load_clock_ns();
	size_t frame_bytes;

	load_client_send(client);
	load_client_wait(client, &frame_bytes);
	uint64_t spent_ns = load_clock_ns() - began_ns;
	qp_buffer_consume(&client->in, frame_bytes);
	return spent_ns;
}

static void probe(struct load_client *prober, const struct load_targets *targets, uint64_t number,
		  struct load_measured *measured)
{
	qp_write_request(&prober->out, ++prober->last_id, "stats");
	qp_write_map(&prober->out, 1);
	qp_write_key_u64(&prober->out, "pid", (uint64_t)targets->pids[number % targets->count]);
	histogram_add(&measured->stats, timed(prober));
	if (number % PS_EVERY != 0)
		return;
	qp_write_request(&prober->out, ++prober->last_id, "ps");
	qp_write_map(&prober->out, 0);
	histogram_add(&measured->ps, timed(prober));
}

static void watch(struct load_client *client, double rate_hz)
{
	size_t frame_bytes;

	qp_write_request(&client->out, ++client->last_id, "watch");
	qp_write_map(&client->out, 1);
	qp_write_key_u64(&client->out, "interval_ms", (uint64_t)(1000 / rate_hz + 0.5));
	load_client_send(client);
	load_client_wait(client, &frame_bytes);
	qp_buffer_consume(&client->in, frame_bytes);
}

static void drain_all(struct load_client *clients, unsigned count, struct pollfd *pollers, uint64_t until_ns)
{
	while (true) {
		uint64_t now_ns = load_clock_ns();
		int ready;

		if (now_ns >= until_ns)
			return;
		struct timespec left = {.tv_sec = (time_t)((until_ns - now_ns) / 1000000000u),
					.tv_nsec = (long)((until_ns - now_ns) % 1000000000u)};
		ready = ppoll(pollers, count, &left, NULL);
		for (unsigned i = 0; ready > 0 && i < count; i++)
			if (pollers[i].revents != 0)
				load_client_drain(&clients[i]);
	}
}

/* From now on readers over HTTP count. */
static void http_begin(struct load_http_seen *seen, struct load_measured *measured)
{
	if (seen == NULL)
		return;
	measured->http_answers = seen->answers;
	measured->http_bytes = seen->bytes;
	seen->is_measuring = true;
}

static void http_end(struct load_http_seen *seen, pid_t readers, struct load_measured *measured)
{
	if (seen == NULL)
		return;
	if (waitpid(readers, NULL, WNOHANG) != 0)
		load_die("the readers over HTTP have ended; what they said is above");
	kill(readers, SIGKILL);
	waitpid(readers, NULL, 0);
	measured->http_answers = seen->answers - measured->http_answers;
	measured->http_bytes = seen->bytes - measured->http_bytes;
	measured->http = seen->latency;
}

static void measure(const struct load_options *options, const struct load_qad *qad, const struct load_targets *targets,
		    struct load_client *prober, struct load_measured *measured)
{
	struct load_client *clients = calloc(options->clients + 1, sizeof(*clients));
	struct pollfd *pollers = calloc(options->clients + 1, sizeof(*pollers));
	uint64_t count = 0, number = 0;

	if (clients == NULL || pollers == NULL)
		load_die("out of memory");
	for (unsigned i = 0; i < options->clients; i++) {
		load_client_open(&clients[i], qad->path);
		pollers[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
		watch(&clients[i], options->rate_hz);
	}
	pid_t readers = 0;
	struct load_http_seen *seen = options->http > 0 ? load_http_start(options, qad, &readers) : NULL;
	drain_all(clients, options->clients, pollers, load_clock_ns() + 2000000000u); /* warm */

	for (unsigned i = 0; i < options->clients; i++)
		clients[i].notifications = 0;
	read_health(prober, measured, &count);
	uint64_t questions = measured->questions, dropped = measured->dropped_notifications;
	uint64_t rounds = measured->http_rounds;
	http_begin(seen, measured);
	measured->before = load_qad_usage(qad);
	uint64_t began_ns = load_clock_ns(), end_ns = began_ns + options->seconds * 1000000000ull;
	for (; load_clock_ns() < end_ns; number++) {
		uint64_t next_ns = began_ns + (number + 1) * PROBE_NS;

		if (!options->is_unprobed)
			probe(prober, targets, number, measured);
		drain_all(clients, options->clients, pollers, next_ns < end_ns ? next_ns : end_ns);
	}
	measured->after = load_qad_usage(qad);
	http_end(seen, readers, measured);
	measured->spent_ns = load_clock_ns() - began_ns;
	read_health(prober, measured, &count);
	measured->questions -= questions;
	measured->http_rounds -= rounds;
	measured->dropped_notifications -= dropped;
	for (unsigned i = 0; i < options->clients; i++) {
		measured->notifications += clients[i].notifications;
		load_client_close(&clients[i]);
	}
	free(clients);
	free(pollers);
}

static void run(const struct load_options *options)
{
	static struct load_measured measured;
	struct load_qad qad;
	struct load_targets targets;
	struct load_client prober;
	uint64_t count = 0;
	pid_t abuse = 0;

	load_qad_start(&qad, options);
	load_client_open(&prober, qad.path);
	read_health(&prober, &measured, &count);
	measured.empty = load_qad_usage(&qad);
	load_targets_start(&targets, options->targets, qad.path);
	for (uint64_t until_ns = load_clock_ns() + 120000000000u; count < options->targets;) {
		if (load_clock_ns() > until_ns)
			load_die("not all targets connect within two minutes");
		drain_all(NULL, 0, NULL, load_clock_ns() + 20000000u);
		read_health(&prober, &measured, &count);
	}
	if (options->is_abused)
		abuse = load_abuse_start(qad.path);
	measure(options, &qad, &targets, &prober, &measured);
	if (abuse > 0)
		kill(abuse, SIGKILL);
	load_report(options, &measured);
	load_client_close(&prober);
	load_targets_end(&targets);
	load_qad_end(&qad);
}

enum {
	OPTION_TARGETS = 256,
	OPTION_CLIENTS,
	OPTION_RATE,
	OPTION_SECONDS,
	OPTION_HTTP,
	OPTION_HTTP_PATH,
	OPTION_NO_PROBE,
	OPTION_HISTORY,
	OPTION_ABUSE,
	OPTION_QAD,
	OPTION_JSON,
	OPTION_HELP
};

static const struct option long_options[] = {
	{"targets", required_argument, NULL, OPTION_TARGETS},
	{"clients", required_argument, NULL, OPTION_CLIENTS},
	{"rate", required_argument, NULL, OPTION_RATE},
	{"seconds", required_argument, NULL, OPTION_SECONDS},
	{"http", required_argument, NULL, OPTION_HTTP},
	{"http-path", required_argument, NULL, OPTION_HTTP_PATH},
	{"no-probe", no_argument, NULL, OPTION_NO_PROBE},
	{"history", no_argument, NULL, OPTION_HISTORY},
	{"abuse", no_argument, NULL, OPTION_ABUSE},
	{"qad", required_argument, NULL, OPTION_QAD},
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, OPTION_HELP},
	{NULL, 0, NULL, 0},
};

static double read_number(const char *name, double least, double most)
{
	char *end;
	double value = strtod(optarg, &end);

	if (end != optarg && *end == '\0' && value >= least && value <= most)
		return value;
	fprintf(stderr, "qad-load: --%s %s: not from %g to %g\nTry 'qad-load --help'.\n", name, optarg, least, most);
	exit(EX_USAGE);
}

static void take_option(int option, struct load_options *options)
{
	switch (option) {
	case OPTION_TARGETS:
		options->targets = (unsigned)read_number("targets", 1, 8000);
		break;
	case OPTION_CLIENTS:
		options->clients = (unsigned)read_number("clients", 0, 1000);
		break;
	case OPTION_RATE:
		options->rate_hz = read_number("rate", 0.001, 10);
		break;
	case OPTION_SECONDS:
		options->seconds = (unsigned)read_number("seconds", 1, 3600);
		break;
	case OPTION_HTTP:
		options->http = (unsigned)read_number("http", 0, 1000);
		break;
	case OPTION_HTTP_PATH:
		options->http_path = optarg;
		break;
	case OPTION_NO_PROBE:
		options->is_unprobed = true;
		break;
	case OPTION_HISTORY:
		options->has_history = true;
		break;
	case OPTION_ABUSE:
		options->is_abused = true;
		break;
	case OPTION_QAD:
		options->qad = optarg;
		break;
	case OPTION_JSON:
		options->is_json = true;
		break;
	case OPTION_HELP:
		fputs(help, stdout);
		exit(EX_OK);
	default:
		fputs("Try 'qad-load --help'.\n", stderr);
		exit(EX_USAGE);
	}
}

int main(int argc, char **argv)
{
	struct load_options options = {
		.targets = 10, .clients = 1, .seconds = 10, .rate_hz = 1, .qad = QAD_PROGRAM, .http_path = "/metrics"};
	struct rlimit limit;
	int option;

	/* The agent of this process itself stays off; a forked target starts its own. */
	qa_agent_stop();
	signal(SIGPIPE, SIG_IGN);
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		take_option(option, &options);
	if (optind < argc) {
		fprintf(stderr, "qad-load: unexpected argument: %s\nTry 'qad-load --help'.\n", argv[optind]);
		return EX_USAGE;
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	run(&options);
	return EX_OK;
}
