/*
 * top_link.h - top's conversation with qad: it watches, asks for history and trims, and comes back when qad was away.
 *
 * Nothing here waits. The loop polls client.fd for what link_events says, at most link_wait_ms, and then takes all news
 * with link_next until there are none.
 */
#ifndef QACTL_TOP_LINK_H
#define QACTL_TOP_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client.h"
#include "target.h"

enum link_state { LINK_UP, LINK_HELLO, LINK_DOWN };

enum link_news {
	LINK_NOTHING,
	LINK_STATE,   /* it came up, or went down, or can not watch: link->problem */
	LINK_FIGURES, /* of the watch of now */
	LINK_ENDED,   /* the process that is watched alone has */
	LINK_HISTORY, /* of link->pid_of_news; message may be an error */
	LINK_TRIM,    /* the same */
};

enum { LINK_REQUESTS = 24 };

struct link_request {
	uint32_t id;
	enum { LINK_FREE, LINK_OF_HELLO, LINK_OF_WATCH, LINK_OF_OLD_WATCH, LINK_OF_HISTORY, LINK_OF_TRIM } kind;
	uint64_t pid;
};

struct link {
	struct client *client;
	const char *socket_path;
	enum link_state state;
	uint64_t interval_ms;
	uint64_t pid; /* watched alone, with its classes; 0: all */
	bool is_paused;
	bool is_over;   /* that process ended */
	uint64_t watch; /* 0: there is none now */
	struct link_request requests[LINK_REQUESTS];
	int64_t heard_ms;  /* when qad said something last, or was asked to say something */
	int64_t retry_ms;  /* LINK_DOWN, or when a watch failed: when to try again; 0: not */
	char problem[512]; /* why it is down or can not watch, escaped; "": all is well */
	uint64_t pid_of_news;
};

/* client is open, and stays the caller's. Asks for nothing yet. */
void link_init(struct link *link, struct client *client, const char *socket_path);

/* Watches one process, or all (0), instead of what it did: until it is told otherwise, also over restarts of qad. */
void link_watch(struct link *link, uint64_t pid, uint64_t interval_ms);
void link_pause(struct link *link, bool is_paused);

/* These fail with -EBUSY when too much is open, and -ENOTCONN when qad is away. */
int link_ask_history(struct link *link, uint64_t pid, unsigned from_s);
/* block_size 0 and pool "": all of it. */
int link_ask_trim(struct link *link, uint64_t pid, uint64_t block_size, const char *pool);
bool link_has_room(const struct link *link);

/* What to poll for; how long at most, in milliseconds, -1: for ever. */
short link_events(const struct link *link);
int link_wait_ms(const struct link *link);

/* The next news; message, where the news has one, is valid until the next call. */
enum link_news link_next(struct link *link, const struct qp_message **message);

/* qad says what can not be: the connection ends, and is made again. */
void link_fail(struct link *link, const char *detail);

#endif
