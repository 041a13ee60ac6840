/*
 * What is looked at before anything else, in this order: the size of the headers, whether there is a body, and by which
 * name we were called. A page of somebody else's whose name is made to point here (DNS rebinding) is stopped by the
 * last: its browser still sends that name. An address as a name is no such danger, but means nothing on a loopback
 * socket either, so it counts only where others may connect.
 */
#include <string.h>
#include <strings.h>

#include "http_core.h"
#include "http_text.h"

struct headers {
	const char *host;
	unsigned hosts;
	bool has_body;
};

static enum MHD_Result take_header(void *closure, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct headers *headers = closure;

	(void)kind;
	if (strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0) {
		headers->hosts++;
		headers->host = value != NULL ? value : "";
	} else if (strcasecmp(key, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
		headers->has_body = true;
	} else if (strcasecmp(key, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
		headers->has_body |= value == NULL || value[strspn(value, "0")] != '\0';
	}
	return MHD_YES;
}

static bool is_given_host(const struct http_options *options, const char *name)
{
	char given[HTTP_HOST_BYTES];

	/* The address that qad listens at, as it was written. */
	if (http_host_name(options->text, given, sizeof(given)) && strcmp(given, name) == 0)
		return true;
	for (size_t i = 0; i < options->host_count; i++)
		if (strcasecmp(options->hosts[i], name) == 0)
			return true;
	return false;
}

static bool is_allowed_host(const struct http_options *options, const char *header)
{
	char name[HTTP_HOST_BYTES];

	if (!http_host_name(header, name, sizeof(name)))
		return false;
	return http_host_is_loopback(name) || is_given_host(options, name) ||
	       (options->allows_remote && http_host_is_literal(name));
}

const char *http_check(struct http *http, struct MHD_Connection *connection, unsigned *status)
{
	const union MHD_ConnectionInfo *size =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	struct headers headers = {0};

	if (size != NULL && size->header_size > http->limits->http_header_bytes) {
		*status = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
		return "the request and its headers are too long";
	}
	MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &headers);
	if (headers.has_body) {
		*status = MHD_HTTP_CONTENT_TOO_LARGE;
		return "qad reads no bodies: what it needs to know is in the path and the query";
	}
	if (headers.hosts != 1) {
		*status = MHD_HTTP_BAD_REQUEST;
		return "a request has one Host header";
	}
	if (!is_allowed_host(&http->options, headers.host)) {
		*status = MHD_HTTP_FORBIDDEN;
		return "qad is not known by that host name: use localhost or its address, or start it with --http-host "
		       "NAME";
	}
	return NULL;
}
