/*
 * body.h - bytes that end the frames of several connections alike: encoded once, and one memory however many of them
 * still wait to be written. So it is charged once, to the user of the first who waits with it. Who waits with the same
 * for another user is charged as well: the first may be gone before.
 */
#ifndef QAD_BODY_H
#define QAD_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "account.h"
#include "buffer.h"

struct body {
	struct qp_buffer bytes; /* do not change once others have the body, too */
	size_t references;
	struct account *account; /* the first who waited; NULL: nobody has */
	size_t charged_bytes;    /* to it */
};

/* Empty, with one reference; NULL without memory. */
struct body *body_create(size_t limit_bytes);
/* The last reference frees it. NULL is allowed. */
void body_release(struct body *body);

/*
 * One more reference, for who waits with it. False, and none, when the account can not bear it. charged_bytes is what
 * the account bears for this one alone, to be refunded by the caller at its end.
 */
bool body_share(struct body *body, struct account *account, size_t *charged_bytes);

#endif
