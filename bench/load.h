/*
 * load.h - the parts of qad-load: a qad of its own, targets that are real processes with the real agent, and clients.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"
#include "histogram.h"

struct load_options {
	unsigned targets, clients, seconds, http;
	double rate_hz; /* of each client's watch of all targets; 0: they watch nothing */
	bool is_json, has_history, is_abused, is_unprobed;
	const char *http_path;
	const char *qad; /* the program */
};

/* qad, load_qad.c. All end the program with a message when something is wrong. */
struct load_qad {
	pid_t pid;
	char directory[32];
	char path[64];
};

void load_qad_start(struct load_qad *qad, const struct load_options *options);
/* Ends it, and checks that it ends well. */
void load_qad_end(struct load_qad *qad);

struct load_usage {
	uint64_t cpu_us, rss_bytes;
};

/* Of qad, from /proc. */
struct load_usage load_qad_usage(const struct load_qad *qad);

/* Where its HTTP is, by its log. */
unsigned load_qad_http_port(const struct load_qad *qad);

/* Readers over HTTP, load_http.c: a process, to be killed, and what it saw so far. */
struct load_http_seen {
	volatile bool is_measuring;
	volatile uint64_t answers, bytes;
	struct histogram latency; /* while is_measuring */
};
struct load_http_seen *load_http_start(const struct load_options *options, const struct load_qad *qad, pid_t *pid);

/* Targets, load_targets.c: forked processes. Killed when this process ends. */
struct load_targets {
	pid_t *pids;
	unsigned count;
};

void load_targets_start(struct load_targets *targets, unsigned count, const char *socket_path);
void load_targets_end(struct load_targets *targets);

/* One connection, load_client.c. */
struct load_client {
	int fd;
	uint32_t last_id;
	uint64_t notifications;
	struct qp_buffer in, out;
};

void load_client_open(struct load_client *client, const char *path);
void load_client_close(struct load_client *client);
/* Sends what was written with qp_write_request into client->out. */
void load_client_send(struct load_client *client);
/* Waits for the response to the last request; its frame is at the front of client->in until the next call. */
void load_client_wait(struct load_client *client, size_t *frame_bytes);
/* Reads what is there and counts the notifications in it. */
void load_client_drain(struct load_client *client);

/* A process that breaks the protocol in every way, over and over, load_abuse.c. To be killed. */
pid_t load_abuse_start(const char *path);

/* What is reported, load_report.c. */
struct load_measured {
	struct load_usage empty, before, after; /* of qad: without targets, and around the time measured */
	uint64_t spent_ns;
	struct histogram stats, ps;
	uint64_t notifications, dropped_notifications, dropped_peers, history_bytes, questions;
	uint64_t http_answers, http_bytes, http_rounds;
	struct histogram http;
};

void load_report(const struct load_options *options, const struct load_measured *measured);

uint64_t load_clock_ns(void);
/* Ends the program. */
void load_die(const char *what) __attribute__((noreturn));

#endif
