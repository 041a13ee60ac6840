/*
 * qad with two clients and a target, whose bytes are the input: everything that peers may send, in any order and in any
 * pieces, through the real sockets, loop, questions, watches and history. Only what the kernel says of a process is
 * made up.
 *
 * Input: pieces of | who: 1 byte | length: 1 byte | bytes |; in `who` bits 0 and 1 are the connection, bit 7: time
 * passes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"
#include "peer.h"
#include "protocol.h"
#include "service.h"
#include "session.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { PEERS = 4, PID = 7 };

static const char hello_client[] = "\x94\x00\x01\xa5hello\x82\xa8protocol\x01\xa4role\xa6"
				   "client";
static const char hello_target[] = "\x94\x00\x01\xa5hello\x82\xa8protocol\x01\xa4role\xa6"
				   "target";

static void check(int holds)
{
	if (!holds)
		abort();
}

/* In place of process.c. */

static pid_t next_pid;

int identity_of_socket(int socket, struct identity *identity)
{
	(void)socket;
	*identity = (struct identity){.pid = next_pid++, .uid = 0, .gid = 0};
	if (identity->pid == PID + PEERS - 1)
		identity->pid = PID; /* the last one is of the same process as the target */
	return 0;
}

bool identity_is_alive(int socket, const struct identity *identity)
{
	(void)socket;
	(void)identity;
	return true;
}

int process_init(struct process *process, pid_t pid, bool keeps_file)
{
	(void)keeps_file;
	*process = (struct process){.pid = pid, .statm = -1, .exe = strdup(""), .cgroup = strdup("")};
	strcpy(process->command, "fuzz");
	return process->exe != NULL && process->cgroup != NULL ? 0 : -ENOMEM;
}

void process_finish(struct process *process)
{
	free(process->exe);
	free(process->cgroup);
}

int process_sample(const struct process *process, struct process_sample *sample)
{
	(void)process;
	*sample = (struct process_sample){.rss_bytes = 1 << 20, .uptime_s = 1};
	return 0;
}

/* One qad. */

static struct fuzzed {
	uv_loop_t loop;
	struct log log;
	struct limits limits;
	struct peers peers;
	struct service service;
	int sockets[PEERS];
} fuzzed;

static void on_message(struct peer *peer, struct qp_message *message)
{
	session_on_message(&fuzzed.service, peer, message);
}

static void on_gone(struct peer *peer)
{
	session_on_gone(&fuzzed.service, peer);
}

static void on_drained(struct peer *peer)
{
	session_on_drained(&fuzzed.service, peer);
}

static void on_room(void *owner)
{
	(void)owner;
}

static const struct peer_events events = {on_message, on_gone, on_drained, on_room};

static void spin(void)
{
	for (int i = 0; i < 4; i++)
		uv_run(&fuzzed.loop, UV_RUN_NOWAIT);
}

/* What qad sends must be whole frames that a client of the protocol takes. */
static void read_and_check(int fd)
{
	static uint8_t memory[1 << 20];
	ssize_t bytes = recv(fd, memory, sizeof(memory), MSG_DONTWAIT);
	size_t size = 0;

	for (ssize_t at = 0; at < bytes; at += (ssize_t)size)
		if (qp_frame_scan(memory + at, (size_t)(bytes - at), QP_FRAME_ANSWER_BYTES, &size) != QP_FRAME_WHOLE) {
			check(bytes == sizeof(memory)); /* the rest did not fit */
			return;
		}
}

static void begin(void)
{
	next_pid = PID;
	limits_init(&fuzzed.limits);
	fuzzed.limits.watch_ms = 10;
	fuzzed.limits.stats_ms = fuzzed.limits.trim_ms = 10;
	uv_loop_init(&fuzzed.loop);
	log_init(&fuzzed.log, LOG_LEVEL_ERROR);
	check(peers_init(&fuzzed.peers, &fuzzed.loop, &fuzzed.log, &fuzzed.limits, &events, NULL) == 0);
	fuzzed.service = (struct service){
		.loop = &fuzzed.loop, .log = &fuzzed.log, .limits = &fuzzed.limits, .peers = &fuzzed.peers};
	qp_buffer_init(&fuzzed.service.out, fuzzed.limits.frame_answer_bytes);
	questions_init(&fuzzed.service.questions, &fuzzed.loop, &fuzzed.log, &fuzzed.limits);
	watching_init(&fuzzed.service.watching, &fuzzed.service, false);
	for (int i = 0; i < PEERS; i++) {
		int pair[2];

		check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
		fuzzed.sockets[i] = pair[0];
		check(peer_create(&fuzzed.peers, pair[1]) == 0);
	}
	/* A target with pid 7, two clients, and one that has to say hello itself. */
	send(fuzzed.sockets[0], hello_target, sizeof(hello_target) - 1, MSG_NOSIGNAL);
	send(fuzzed.sockets[1], hello_client, sizeof(hello_client) - 1, MSG_NOSIGNAL);
	send(fuzzed.sockets[2], hello_client, sizeof(hello_client) - 1, MSG_NOSIGNAL);
	spin();
}

static void end(void)
{
	for (int i = 0; i < PEERS; i++) {
		read_and_check(fuzzed.sockets[i]);
		close(fuzzed.sockets[i]);
	}
	peers_close(&fuzzed.peers, "the end");
	questions_close(&fuzzed.service.questions);
	watching_close(&fuzzed.service.watching);
	uv_run(&fuzzed.loop, UV_RUN_DEFAULT);
	qp_buffer_finish(&fuzzed.service.out);
	registry_finish(&fuzzed.service.registry);
	history_finish(&fuzzed.service.total);
	peers_finish(&fuzzed.peers);
	check(list_is_empty(&fuzzed.peers.accounts.all));
	check(uv_loop_close(&fuzzed.loop) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	begin();
	for (size_t at = 0; at + 2 <= bytes;) {
		uint8_t who = data[at];
		size_t length = data[at + 1];

		at += 2;
		if (length > bytes - at)
			length = bytes - at;
		send(fuzzed.sockets[who % PEERS], data + at, length, MSG_NOSIGNAL);
		at += length;
		if (who & 0x80)
			usleep(1000);
		spin();
		if (who & 0x40)
			read_and_check(fuzzed.sockets[who % PEERS]);
	}
	end();
	return 0;
}
