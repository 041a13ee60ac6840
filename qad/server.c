/*
 * Builds the parts, lets the loop run, and takes them down in the opposite order. Ending is closing every handle: the
 * loop then runs out by itself, and uv_loop_close proves that nothing was left.
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uv.h>

#include "http_server.h"
#include "listen.h"
#include "peer.h"
#include "service.h"
#include "session.h"

/* The loop's own, the socket, those that are open for a moment, and some connections. */
enum { DESCRIPTORS_LEAST = 32 };

struct server {
	uv_loop_t loop;
	struct log log;
	struct limits limits;
	struct listener listener;
	struct manager manager;
	struct peers peers;
	struct service service;
	struct http *http; /* NULL: it is off */
	uv_signal_t on_terminate, on_interrupt;
	bool is_ending;
};

static void on_message(struct peer *peer, struct qp_message *message)
{
	struct server *server = peer->peers->owner;

	session_on_message(&server->service, peer, message);
}

static void on_gone(struct peer *peer)
{
	struct server *server = peer->peers->owner;

	session_on_gone(&server->service, peer);
}

static void on_drained(struct peer *peer)
{
	struct server *server = peer->peers->owner;

	session_on_drained(&server->service, peer);
}

static void on_room(void *owner)
{
	struct server *server = owner;

	if (!server->is_ending)
		listener_on_room(&server->listener);
}

static const struct peer_events events = {
	.message = on_message, .gone = on_gone, .drained = on_drained, .room = on_room};

/* From here on qad ends, whoever asks for it again: a second signal must not kill it half-way. */
static void block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static void close_all(struct server *server)
{
	block_signals();
	server->is_ending = true;
	manager_ends(&server->manager);
	listener_close(&server->listener);
	if (server->http != NULL)
		http_close(server->http);
	peers_close(&server->peers, "qad ends");
	questions_close(&server->service.questions);
	watching_close(&server->service.watching);
	uv_close((uv_handle_t *)&server->on_terminate, NULL);
	uv_close((uv_handle_t *)&server->on_interrupt, NULL);
}

static void on_signal(uv_signal_t *handle, int signal)
{
	struct server *server = handle->data;

	if (server->is_ending)
		return;
	log_write(&server->log, LOG_LEVEL_NOTICE, "ends: %s", signal == SIGTERM ? "SIGTERM" : "SIGINT");
	close_all(server);
}

/* A connection is a descriptor; the soft limit is often 1,024. */
static void raise_descriptor_limit(struct log *log, uint64_t connections)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < connections)
		log_write(log, LOG_LEVEL_INFO, "the limit of open files, %llu, is less than %llu connections",
			  (unsigned long long)limit.rlim_max, (unsigned long long)connections);
}

/* libuv ends the program when it can not open what it needs for itself; so that is found out before. */
static int check_descriptors(struct log *log)
{
	int copies[DESCRIPTORS_LEAST], count = 0;

	while (count < DESCRIPTORS_LEAST && (copies[count] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	for (int i = 0; i < count; i++)
		close(copies[i]);
	if (count == DESCRIPTORS_LEAST)
		return 0;
	log_write(log, LOG_LEVEL_ERROR,
		  "only %d more files may be opened, and qad needs %d at least; raise the limit of open files "
		  "(ulimit -n, LimitNOFILE=)",
		  count, DESCRIPTORS_LEAST);
	return -EMFILE;
}

static int start_signals(struct server *server)
{
	int error;

	uv_signal_init(&server->loop, &server->on_terminate);
	uv_signal_init(&server->loop, &server->on_interrupt);
	server->on_terminate.data = server;
	server->on_interrupt.data = server;
	error = uv_signal_start(&server->on_terminate, on_signal, SIGTERM);
	if (error == 0)
		error = uv_signal_start(&server->on_interrupt, on_signal, SIGINT);
	return error;
}

static void init_service(struct server *server, const struct server_options *options)
{
	struct service *service = &server->service;

	*service = (struct service){
		.loop = &server->loop,
		.log = &server->log,
		.limits = &server->limits,
		.peers = &server->peers,
		.access = options->access,
		.started_ms = uv_now(&server->loop),
	};
	qp_buffer_init(&service->out, server->limits.frame_answer_bytes);
	questions_init(&service->questions, &server->loop, &server->log, &server->limits);
	watching_init(&service->watching, service, options->is_recording);
}

/* Listens, and drops what it was allowed for that. */
static int open_listener(struct server *server, const struct server_options *options)
{
	int error = 0;

	if (options->socket >= 0)
		place_take(&server->listener.place, &options->address, options->socket);
	else
		error = place_open(&server->listener.place, &options->address);
	if (error == 0)
		error = http_create(&server->service, &options->http, &server->http);
	if (error != 0 || options->user.name == NULL)
		return error;
	place_give_directory(&server->listener.place, options->user.uid);
	error = user_become(&options->user);
	if (error != 0) {
		log_write(&server->log, LOG_LEVEL_ERROR, "can not become user %s: %s%s", options->user.name,
			  strerror(-error),
			  error == -EPERM ? "; only root can: start qad as root, or without --user" : "");
		return -EUSERS;
	}
	return place_check_reach(&server->listener.place, options->user.name);
}

/*
 * The loop is there. Ends with the loop empty again, whatever happens. Signals come first: from the moment at which the
 * socket can be seen, qad can be told to end and takes it with it.
 */
static int serve(struct server *server, const struct server_options *options)
{
	int error = peers_init(&server->peers, &server->loop, &server->log, &server->limits, &events, server);

	if (error != 0)
		return error;
	init_service(server, options);
	error = start_signals(server);
	if (error == 0)
		error = open_listener(server, options);
	if (error == 0)
		error = listener_start(&server->listener, &server->loop, &server->peers);
	if (error == 0 && server->http != NULL)
		error = http_start(server->http);
	if (error == 0) {
		log_write(&server->log, LOG_LEVEL_NOTICE, "listening on %s", options->address.path);
		manager_ready(&server->manager, &server->loop, "listening");
	} else {
		close_all(server);
	}
	uv_run(&server->loop, UV_RUN_DEFAULT);
	qp_buffer_finish(&server->service.out);
	http_destroy(server->http);
	history_finish(&server->service.total);
	registry_finish(&server->service.registry);
	peers_finish(&server->peers);
	return error;
}

/*
 * Whatever the parent left: blocked signals would keep qad from ending, and a umask of 077 would close the directory
 * that root's qad makes to those who are to connect there. To a log that may not grow, a full disk, belongs SIGXFSZ.
 */
static void prepare_process(void)
{
	sigset_t none;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	umask(022);
}

int server_run(const struct server_options *options)
{
	struct server *server = calloc(1, sizeof(*server));
	int error;

	if (server == NULL)
		return -ENOMEM;
	prepare_process();
	log_init(&server->log, options->level);
	raise_descriptor_limit(&server->log, options->limits.connections);
	error = check_descriptors(&server->log);
	if (error == 0)
		error = uv_loop_init(&server->loop);
	if (error != 0) {
		free(server);
		return error;
	}
	listener_init(&server->listener, &server->log);
	server->limits = options->limits;
	server->manager = options->manager;
	error = serve(server, options);
	int left = uv_loop_close(&server->loop);
	if (left != 0)
		log_write(&server->log, LOG_LEVEL_ERROR, "handles were left open: %s", uv_strerror(left));
	free(server);
	return error != 0 ? error : left;
}
