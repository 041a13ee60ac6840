/*
 * A loop over one poll. Not connected: arm the watches, try the addresses, sleep until an event, or until the next try
 * when that is worth it:
 *
 *   no socket                                             events only
 *   nobody listens: left over, or not yet listening       a few tries in 2.5 s, then events only
 *   qad turns us away, closes soon, has a full backlog    tries further and further apart, up to a minute
 *
 * To close an inotify instance costs the kernel some 20 ms, also when a process ends. So that short programs do not pay
 * that where there is no qad, the agent does without in its first half second; and it says hello before it closes one.
 *
 * Connected: one request at a time; nothing is read while an answer is not yet written, so a qad that does not read
 * costs one buffer and no time.
 */
#include "agent_link.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>

#include "agent_answer.h"
#include "agent_os.h"
#include "frame.h"
#include "os.h"
#include "protocol.h"
#include "read.h"

#define IN_BYTES ((size_t)QP_FRAME_CLIENT_BYTES)
#define OUT_BYTES ((size_t)QP_QUEUE_TARGET_BYTES)
#define SCRATCH_BYTES QP_MESSAGE_MEMORY(IN_BYTES)
/* What stays resident after an answer. */
#define KEPT_BYTES ((size_t)64 << 10)

#define RETRY_FIRST_MS 20
#define RETRY_LAST_MS 60000
#define REFUSED_TRIES 7u /* 20 + 40 + ... + 1280 ms */
#define BLIND_RETRY_MS 5000
/* A connection that lived so long was a good one. */
#define GOOD_MS 1000
/* So long nothing is watched, but looked for once more at the end. */
#define YOUNG_MS 500

/* The mapping: the struct and in, out, scratch; each part a multiple of every page size there is, for give_back. */
#define FRONT_BYTES ((size_t)64 << 10)
#define MAPPING_BYTES (FRONT_BYTES + OUT_BYTES + SCRATCH_BYTES)

_Static_assert(sizeof(struct agent_link) + IN_BYTES <= FRONT_BYTES, "the front holds both");
_Static_assert(OUT_BYTES % FRONT_BYTES == 0 && SCRATCH_BYTES % FRONT_BYTES == 0, "whole pages");

int agent_link_create(const struct agent_link *before, struct agent_link **created)
{
	uint8_t *mapping =
		mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapping == MAP_FAILED)
		return -EAGAIN;

	struct agent_link *link = (struct agent_link *)mapping;
	agent_wake_init(&link->wake);
	link->socket_fd = -1;
	agent_watch_init(&link->watch);
	qp_buffer_init_fixed(&link->in, mapping + FRONT_BYTES - IN_BYTES, IN_BYTES);
	qp_buffer_init_fixed(&link->out, mapping + FRONT_BYTES, OUT_BYTES);
	link->scratch = mapping + FRONT_BYTES + OUT_BYTES;

	if (before != NULL) {
		memcpy(link->addresses, before->addresses, sizeof(link->addresses));
		link->address_count = before->address_count;
	} else {
		link->address_count = qp_address_candidates(link->addresses);
	}
	if (link->address_count < 0) {
		int error = link->address_count;
		agent_link_destroy(link);
		return error;
	}
	link->is_chosen = link->address_count == 1;
	*created = link;
	return 0;
}

void agent_link_destroy(struct agent_link *link)
{
	munmap(link, MAPPING_BYTES);
}

static int64_t now_ms(void)
{
	return (int64_t)(os_clock_us() / 1000);
}

/* 20 ms, doubled each time, up to a minute; of that a random part between half and all, so that targets spread. */
static int64_t retry_delay_ms(struct agent_link *link)
{
	int64_t delay = RETRY_FIRST_MS;

	for (uint32_t i = 1; i < link->failures && delay < RETRY_LAST_MS; i++)
		delay *= 2;
	if (delay > RETRY_LAST_MS)
		delay = RETRY_LAST_MS;
	link->random = link->random * 6364136223846793005u + 1442695040888963407u;
	return delay / 2 + (int64_t)((link->random >> 33) % (uint64_t)(delay / 2 + 1));
}

/*
 * Who may answer: root or the user whom we run as; anybody could put a socket of that name in /tmp. Whoever chose
 * QAD_SOCKET has chosen whom to trust as well.
 */
static bool is_trusted(const struct agent_link *link, int fd)
{
	struct ucred peer;

	if (link->is_chosen)
		return true;
	return agent_os_peer(fd, &peer) == 0 && (peer.uid == 0 || peer.uid == geteuid());
}

/* A socket that is connected, or a negative errno. */
static int connect_to(const struct agent_link *link, const struct qp_address *address)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};

	if (!link->is_chosen && qp_address_check_directory(address) != 0)
		return -EPERM;
	memcpy(name.sun_path, address->path, sizeof(address->path));

	int fd = agent_os_socket();
	if (fd < 0)
		return fd;
	int error = agent_os_connect(fd, &name, sizeof(name));
	if (error == 0 && !is_trusted(link, fd))
		error = -EPERM;
	if (error == 0)
		return fd;
	agent_os_close(fd);
	return error;
}

static void begin_connection(struct agent_link *link, int fd)
{
	link->socket_fd = fd;
	link->connected_ms = now_ms();
	link->is_welcome = false;
	link->wanted_bytes = 1;
	qp_buffer_reset(&link->in);
	qp_buffer_reset(&link->out);
	agent_answer_hello(&link->out);
}

static void end_connection(struct agent_link *link)
{
	bool was_good = link->is_welcome && now_ms() - link->connected_ms >= GOOD_MS;

	agent_os_close(link->socket_fd);
	link->socket_fd = -1;
	link->failures = was_good ? 0 : link->failures + 1;
}

/* Tries the addresses, best first. 0, or -EAGAIN (qad is there, but busy), -ECONNREFUSED, -ENOENT. */
static int try_addresses(struct agent_link *link)
{
	int outcome = -ENOENT;

	for (int i = 0; i < link->address_count; i++) {
		int fd = connect_to(link, &link->addresses[i]);

		if (fd >= 0) {
			begin_connection(link, fd);
			return 0;
		}
		if (fd == -EAGAIN || (fd == -ECONNREFUSED && outcome != -EAGAIN))
			outcome = fd;
	}
	return outcome;
}

/* Sleeps on the stop pipe and fd (-1: none). What happened to fd; 0: nothing, a timeout, or a call to stop. */
static short sleep_on(const struct agent_link *link, int fd, short events, int64_t timeout_ms)
{
	struct pollfd fds[2] = {{.fd = link->wake.stop_fd, .events = POLLIN}, {.fd = fd, .events = events}};
	int count = agent_os_poll(fds, 2, timeout_ms);

	return (short)(count > 0 ? fds[1].revents : 0);
}

static bool must_stop(const struct agent_link *link)
{
	return agent_wake_must_stop(&link->wake);
}

/* Sleeps until there is a reason to look for qad again. outcome: of the last try, or 0 when a connection broke. */
static void await_qad(struct agent_link *link, int outcome)
{
	int64_t timeout_ms = -1;

	if (outcome == -ECONNREFUSED || outcome == -EAGAIN)
		link->failures++;
	if (outcome == 0 || outcome == -EAGAIN || (outcome == -ECONNREFUSED && link->failures <= REFUSED_TRIES))
		timeout_ms = retry_delay_ms(link);
	int64_t young_ms = link->started_ms + YOUNG_MS - now_ms();
	if (link->watch.fd < 0 && young_ms > 0 && (timeout_ms < 0 || timeout_ms > young_ms))
		timeout_ms = young_ms;
	if (link->watch.has_blind_spot && (timeout_ms < 0 || timeout_ms > BLIND_RETRY_MS))
		timeout_ms = BLIND_RETRY_MS;

	int64_t deadline_ms = now_ms() + timeout_ms;
	while (!must_stop(link)) {
		int64_t left_ms = timeout_ms < 0 ? -1 : deadline_ms - now_ms();

		if (timeout_ms >= 0 && left_ms <= 0)
			return;
		if (sleep_on(link, link->watch.fd, POLLIN, left_ms) == 0 || !agent_watch_take(&link->watch))
			continue; /* the time may be over, or the call to stop may have come */
		agent_watch_disarm(&link->watch);
		link->failures = 0;
		return;
	}
}

/* Looks for qad until connected or told to stop. */
static void find_qad(struct agent_link *link)
{
	bool has_failed = link->failures > 0; /* qad took the last connection but closed it soon: not at once again */

	while (!must_stop(link) && link->socket_fd < 0) {
		if (link->watch.fd < 0 && now_ms() - link->started_ms >= YOUNG_MS)
			agent_watch_arm(&link->watch, link->addresses, link->address_count, link->is_chosen);
		int outcome = 0;
		if (!has_failed)
			outcome = try_addresses(link);
		if (link->socket_fd < 0)
			await_qad(link, outcome);
		has_failed = false;
	}
}

/* Memory that a large answer has touched goes back; both buffers are empty then. */
static void give_back(struct agent_link *link)
{
	if (link->touched_bytes <= KEPT_BYTES)
		return;
	madvise(link->out.memory, OUT_BYTES + SCRATCH_BYTES, MADV_DONTNEED);
	link->touched_bytes = 0;
}

/* Writes what it can. False: the connection is gone. */
static bool flush(struct agent_link *link)
{
	while (link->out.used_bytes > 0) {
		long bytes = agent_os_send(link->socket_fd, link->out.data, link->out.used_bytes);

		if (bytes == -EAGAIN)
			return true;
		if (bytes < 0 && bytes != -EINTR)
			return false;
		if (bytes > 0)
			qp_buffer_consume(&link->out, (size_t)bytes);
		if (must_stop(link))
			return true;
	}
	give_back(link);
	return true;
}

/* Answers the first frame in the buffer. 1, 0 when there is no whole one, -1 when the connection is of no use. */
static int answer_next(struct agent_link *link)
{
	size_t size_bytes, scratch_bytes = 0;

	if (link->in.used_bytes < link->wanted_bytes)
		return 0;
	enum qp_frame frame = qp_frame_scan(link->in.data, link->in.used_bytes, IN_BYTES, &size_bytes);
	if (frame == QP_FRAME_PART) {
		link->wanted_bytes = size_bytes;
		return 0;
	}
	if (frame != QP_FRAME_WHOLE)
		return -1;

	enum agent_answer answer =
		agent_answer_frame(&link->out, link->in.data, size_bytes, link->scratch, SCRATCH_BYTES, &scratch_bytes);
	qp_buffer_consume(&link->in, size_bytes);
	link->wanted_bytes = 1;
	if (scratch_bytes + link->out.used_bytes > link->touched_bytes)
		link->touched_bytes = scratch_bytes + link->out.used_bytes;
	if (answer == AGENT_ANSWER_WELCOME)
		link->is_welcome = true;
	return answer == AGENT_ANSWER_DROP ? -1 : 1;
}

/* Reads what is there. 1, 0 when there is nothing, -1 when the connection is gone. */
static int receive(struct agent_link *link)
{
	/* There is room: a frame larger than the buffer was refused, a whole one answered. */
	uint8_t *room = qp_buffer_reserve(&link->in, 1);
	long bytes = room != NULL ? agent_os_receive(link->socket_fd, room, qp_buffer_room(&link->in)) : -ENOBUFS;

	if (bytes == -EAGAIN)
		return 0;
	if (bytes == -EINTR)
		return 1;
	if (bytes <= 0)
		return -1;
	link->in.used_bytes += (size_t)bytes;
	return 1;
}

/* Serves qad until the connection is gone or the agent is told to stop. */
static void serve_qad(struct agent_link *link)
{
	while (!must_stop(link)) {
		int outcome = 1;

		if (!flush(link))
			break;
		if (link->out.used_bytes > 0) {
			sleep_on(link, link->socket_fd, POLLOUT, -1);
			continue;
		}
		agent_watch_disarm(&link->watch);
		outcome = answer_next(link);
		/* Sleep first: nearly always there is nothing more to read, and asking would be a system call more. */
		if (outcome == 0 && sleep_on(link, link->socket_fd, POLLIN, -1) != 0)
			outcome = receive(link);
		if (outcome < 0)
			break;
	}
	end_connection(link);
}

void agent_link_run(struct agent_link *link)
{
	pthread_setname_np(pthread_self(), "qa-agent");
	/* A program of real-time threads must not have its agent among them. */
	if (sched_getscheduler(0) != SCHED_OTHER)
		sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
	if (!agent_wake_enter(&link->wake))
		return;
	link->started_ms = now_ms();
	link->random = (uint64_t)link->started_ms ^ (uint64_t)getpid() << 32;

	while (!must_stop(link)) {
		find_qad(link);
		if (link->socket_fd >= 0)
			serve_qad(link);
	}
	/* The table goes with the thread, and all that is open in it. */
}
