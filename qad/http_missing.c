/*
 * In place of all other http_*.c but http_options.c and http_text.c when libmicrohttpd or jansson was not there at
 * build time: --http then says so.
 */
#include <errno.h>

#include "http_server.h"

int http_create(struct service *service, const struct http_options *options, struct http **created)
{
	*created = NULL;
	if (!options->is_on)
		return 0;
	log_write(
		service->log, LOG_LEVEL_ERROR,
		"this qad was built without HTTP: build it with libmicrohttpd and jansson (meson setup -Dhttp=enabled "
		"says which is missing)");
	return -ENOTSUP;
}

int http_start(struct http *http)
{
	(void)http;
	return 0;
}

void http_close(struct http *http)
{
	(void)http;
}

void http_destroy(struct http *http)
{
	(void)http;
}
