/*
 * http_server.h - HTTP as the daemon sees it: there or not, with nothing of libmicrohttpd.
 *
 * A qad that was built without it has the same functions (http_missing.c).
 */
#ifndef QAD_HTTP_SERVER_H
#define QAD_HTTP_SERVER_H

#include "http_options.h"
#include "service.h"

struct http;

/*
 * Listens, from before qad becomes another user, when the options ask for it; else *created is NULL. 0 or a negative
 * errno, after a line in the log that says what to do: -EADDRINUSE the port is taken; -ENOTSUP this qad has no
 * HTTP; -ENOKEY the token file is no good.
 */
int http_create(struct service *service, const struct http_options *options, struct http **created);
/* Serves from now on; 0 or a negative errno, after a line in the log. */
int http_start(struct http *http);
/* Ends every connection. By then the questions are still there; afterwards the loop runs the close callbacks. */
void http_close(struct http *http);
void http_destroy(struct http *http);

#endif
