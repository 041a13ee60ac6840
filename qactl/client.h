/*
 * client.h - the connection to qad: requests out, responses in, everything bounded in time.
 *
 * Calls return 0 or a negative errno; client_fail says what that means to the user. After an error the connection is of
 * no use.
 */
#ifndef QACTL_CLIENT_H
#define QACTL_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "address.h"
#include "buffer.h"
#include "read.h"

enum { CLIENT_CONNECT_MS = 3000 };

struct client_attempt {
	struct qp_address address;
	int error; /* a negative errno; -EPERM: its directory is not the user's alone */
};

struct client {
	int fd;
	uint32_t last_id;
	struct qp_buffer in, out;
	struct qp_message message; /* the response handed out last */
	size_t message_bytes;      /* its frame, at the front of in; 0: none */
	struct client_attempt attempts[QP_ADDRESSES];
	int attempt_count;        /* the last is the one that worked, if any did */
	bool is_address_chosen;   /* by --socket or QAD_SOCKET, not one of the usual ones */
	bool is_option;           /* by --socket */
	int stats_ms, trim_ms;    /* how long an answer is waited for: qad's own deadlines, and a second for the way */
	int waited_ms;            /* the deadline that passed, with -ETIMEDOUT */
	char refusal[512];        /* what qad said to hello */
	bool takes_notifications; /* client_receive hands out these too; else they are dropped */
	int stop_fd;              /* once it is readable, waiting ends with -ECANCELED; -1: none */
	bool stops_with_output;   /* waiting ends with -EPIPE when nobody reads stdout any more */
	const char *detail;       /* what was wrong, with -EPROTO and -EBUSY */
};

void client_init(struct client *client);
void client_finish(struct client *client);

/*
 * Connects to the first address where a qad listens, or only to socket_path if it is not NULL, and says hello.
 * -ENAMETOOLONG, -EINVAL: the path is of no use; -ENOTCONN: no qad at any address; -EBUSY: qad has too many connections
 * of this user; else as client_receive.
 */
int client_open(struct client *client, const char *socket_path);

/*
 * The parts of client_open, for who can not wait: connects (at_once: only to a qad that accepts now), begins hello, and
 * reads its response: 0, -EBUSY, -EPROTO.
 */
int client_connect(struct client *client, const char *socket_path, bool at_once);
uint32_t client_begin_hello(struct client *client);
int client_take_hello(struct client *client, const struct qp_message *message);

/* Begins a request; the caller writes its params, a map, into the buffer. Its id comes back with the response. */
struct qp_buffer *client_begin(struct client *client, const char *method, uint32_t *id);

/*
 * Sends what was begun and waits for the next response, at most until deadline (client_clock_ms). The message is the
 * client's, valid until the next call. -ETIMEDOUT, after which the wait may go on with another call; -ECANCELED,
 * -EPIPE: see stop_fd and stops_with_output; -ECONNRESET, -EPROTO, -ENOMEM.
 */
int client_receive(struct client *client, int64_t deadline_ms, const struct qp_message **message);

/*
 * The same without waiting: -EAGAIN when no whole message has come. What could not be sent yet stays in client->out,
 * for a call when the connection takes it.
 */
int client_receive_now(struct client *client, const struct qp_message **message);

/* Sends the one request that is open and waits for its response: -EPROTO when the response has another id. */
int client_ask(struct client *client, uint32_t id, int timeout_ms, const struct qp_message **message);

/* Milliseconds of a clock that only goes forward. */
int64_t client_clock_ms(void);

/* Says on stderr what an error of the calls above means and what to do. Returns the exit status for it. */
int client_fail(const struct client *client, int error);

/* The path of the connection; and the same escaped, in the caller's memory, which is returned. */
const char *client_path(const struct client *client);
enum { CLIENT_PATH_TEXT_BYTES = QP_ADDRESS_BYTES * 4 + 1 };
char *client_path_text(const struct client *client, char text[CLIENT_PATH_TEXT_BYTES]);

#endif
