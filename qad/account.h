/*
 * account.h - what each user has of qad: connections, their requests and watches, and memory that waits because of
 * them.
 *
 * Limits a connection has are multiplied by the connections a user may have; so what waits in all of them together
 * (frames not yet whole, answers not yet read, questions of `ps`) is charged to one account per uid.
 */
#ifndef QAD_ACCOUNT_H
#define QAD_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "list.h"

struct account {
	struct list link;
	size_t limit_bytes; /* of memory_bytes */
	uid_t uid;
	size_t references;  /* connections, also those before hello, and bodies */
	size_t connections; /* after hello */
	size_t before_hello;
	struct list mute; /* those before hello, oldest first; of peer.c */
	size_t requests;  /* not yet answered */
	size_t watches;
	size_t memory_bytes;
	uint64_t turn_round, turn_ns; /* of turn.c */
};

struct accounts {
	struct list all;
	size_t limit_bytes;
};

void accounts_init(struct accounts *accounts, size_t limit_bytes);

/* The account of a uid with one reference more, or NULL without memory. */
struct account *account_acquire(struct accounts *accounts, uid_t uid);
/* One reference more to an account that is there. */
struct account *account_hold(struct account *account);
/* The last reference frees it; by then nothing is charged. NULL is allowed. */
void account_release(struct account *account);

/* How many users have one. */
size_t account_count(const struct accounts *accounts);

/* False, and nothing charged, when that would be above the limit of a user. */
bool account_charge(struct account *account, size_t bytes);
void account_refund(struct account *account, size_t bytes);

#endif
