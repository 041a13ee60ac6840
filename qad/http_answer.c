/*
 * Every response has the same headers. What a body takes is counted from its making to its last byte sent, so that
 * readers who take their time can not fill the memory with answers of the past.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_core.h"
#include "methods.h"

static const char *const content_types[HTTP_TYPES] = {
	[HTTP_TYPE_TEXT] = "text/plain; charset=utf-8",
	[HTTP_TYPE_METRICS] = "text/plain; version=0.0.4; charset=utf-8",
	[HTTP_TYPE_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	[HTTP_TYPE_JSON] = "application/json",
	[HTTP_TYPE_HTML] = "text/html; charset=utf-8",
	[HTTP_TYPE_CSS] = "text/css; charset=utf-8",
	[HTTP_TYPE_JS] = "text/javascript; charset=utf-8",
	[HTTP_TYPE_SVG] = "image/svg+xml",
	[HTTP_TYPE_PNG] = "image/png",
	[HTTP_TYPE_ICO] = "image/x-icon",
};

#define NO_STORE "no-store"

/* What a browser may do with it: nothing but what came from here, shown nowhere but here. */
static const struct {
	const char *name, *value;
} strict_headers[] = {
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
	 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{MHD_HTTP_HEADER_CACHE_CONTROL, NO_STORE},
};

/* A body from malloc whose bytes are counted. */
struct counted {
	struct http *http;
	size_t bytes;
	void *data;
};

static void free_counted(void *closure)
{
	struct counted *counted = closure;

	counted->http->counters->memory_bytes -= counted->bytes;
	free(counted->data);
	free(counted);
}

static struct MHD_Response *make_counted(struct http *http, void *data, size_t size_bytes)
{
	struct counted *counted = malloc(sizeof(*counted));
	struct MHD_Response *response = NULL;

	if (counted != NULL && http->counters->memory_bytes + size_bytes <= http->limits->http_memory_bytes) {
		*counted = (struct counted){.http = http, .bytes = size_bytes, .data = data};
		response =
			MHD_create_response_from_buffer_with_free_callback_cls(size_bytes, data, free_counted, counted);
	}
	if (response == NULL) {
		free(counted);
		free(data);
		return NULL;
	}
	http->counters->memory_bytes += size_bytes;
	return response;
}

enum memory { MEMORY_FREE /* taken over */, MEMORY_COPY, MEMORY_STATIC };

static struct MHD_Response *make_response(struct http *http, enum http_type type, const void *data, size_t size_bytes,
					  enum memory memory)
{
	void *body = (void *)(uintptr_t)data; /* libmicrohttpd does not write to it */
	struct MHD_Response *response;

	if (memory == MEMORY_FREE)
		response = make_counted(http, body, size_bytes);
	else
		response = MHD_create_response_from_buffer(
			size_bytes, body, memory == MEMORY_COPY ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT);
	if (response == NULL)
		return NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_types[type]);
	for (size_t i = 0; i < sizeof(strict_headers) / sizeof(strict_headers[0]); i++)
		MHD_add_response_header(response, strict_headers[i].name, strict_headers[i].value);
	return response;
}

struct MHD_Response *http_make_error(struct http *http, bool is_api, const char *code, const char *message)
{
	char text[512];
	json_t *json;
	char *dump;

	if (!is_api) {
		snprintf(text, sizeof(text), "%s\n", message);
		return make_response(http, HTTP_TYPE_TEXT, text, strlen(text), MEMORY_COPY);
	}
	json = json_pack("{s:{s:s,s:s}}", "error", "code", code, "message", message);
	dump = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return dump != NULL ? make_response(http, HTTP_TYPE_JSON, dump, strlen(dump), MEMORY_FREE) : NULL;
}

/* It may be kept, and is asked about each time. */
static void set_etag(struct MHD_Response *response, const char *etag)
{
	MHD_del_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, NO_STORE);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, etag);
}

void http_answer_bytes(struct http_job *job, unsigned status, enum http_type type, void *data, size_t size_bytes)
{
	http_job_answer(job, status, make_response(job->http, type, data, size_bytes, MEMORY_FREE));
}

void http_answer_static(struct http_job *job, enum http_type type, const void *data, size_t size_bytes,
			const char *etag)
{
	struct MHD_Response *response = make_response(job->http, type, data, size_bytes, MEMORY_STATIC);

	if (response != NULL)
		set_etag(response, etag);
	http_job_answer(job, MHD_HTTP_OK, response);
}

struct MHD_Response *http_make_unchanged(struct http *http, struct MHD_Response *known)
{
	struct MHD_Response *response = make_response(http, HTTP_TYPE_TEXT, "", 0, MEMORY_STATIC);

	if (response == NULL)
		return NULL;
	/* A 304 says nothing of the body that it does not have. */
	MHD_del_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_types[HTTP_TYPE_TEXT]);
	set_etag(response, MHD_get_response_header(known, MHD_HTTP_HEADER_ETAG));
	return response;
}

void http_answer_json(struct http_job *job, unsigned status, json_t *json)
{
	char *dump = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	if (dump != NULL)
		http_answer_bytes(job, status, HTTP_TYPE_JSON, dump, strlen(dump));
	else
		http_job_answer(job, status, NULL);
}

void http_fail(struct http_job *job, unsigned status, const char *code, const char *message)
{
	bool is_api = strncmp(job->wish.route->path, "/api/", 5) == 0;

	http_job_answer(job, status, http_make_error(job->http, is_api, code, message));
}

void http_fail_outcome(struct http_job *job, const struct target *target, enum answer_outcome outcome)
{
	char message[METHOD_MESSAGE_BYTES];
	const char *code = method_outcome(outcome, target->process.command, target->peer->who.pid, message);
	unsigned status = MHD_HTTP_BAD_GATEWAY;

	if (outcome == ANSWER_TIMEOUT)
		status = MHD_HTTP_GATEWAY_TIMEOUT;
	else if (outcome == ANSWER_GONE || outcome == ANSWER_NO_CLASS)
		status = MHD_HTTP_NOT_FOUND;
	http_fail(job, status, code, message);
}

struct target *http_find_target(struct http_job *job)
{
	struct target *target = registry_find(&job->service->registry, job->wish.pid);
	char message[64];

	if (target != NULL && !target->peer->closing)
		return target;
	snprintf(message, sizeof(message), "no target has pid %d", (int)job->wish.pid);
	http_fail(job, MHD_HTTP_NOT_FOUND, "no_target", message);
	return NULL;
}
