/*
 * libmicrohttpd calls for the same request again and again: when its headers are there, when it is whole, and each time
 * after it was resumed. What is wrong with a request is answered here, the rest by its job.
 */
#include <stdlib.h>
#include <string.h>

#include "http_core.h"
#include "http_text.h"

static enum MHD_Result send_response(struct http *http, struct MHD_Connection *connection, unsigned status,
				     struct MHD_Response *response)
{
	enum MHD_Result result;

	/* Without memory nothing can be said: the connection ends. */
	if (response == NULL)
		return MHD_NO;
	http->counters->refused += status >= 400;
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static bool is_of_api(const char *path)
{
	return strncmp(path, "/api/", 5) == 0;
}

static const char *code_of(unsigned status)
{
	switch (status) {
	case MHD_HTTP_FORBIDDEN:
	case MHD_HTTP_UNAUTHORIZED:
		return "not_allowed";
	case MHD_HTTP_SERVICE_UNAVAILABLE:
		return "busy";
	default:
		return "bad_request";
	}
}

static enum MHD_Result refuse(struct http_request *request, const char *path, unsigned status, const char *message)
{
	struct MHD_Response *response = http_make_error(request->http, is_of_api(path), code_of(status), message);

	if (response != NULL && status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (response != NULL && status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"qad\"");
	return send_response(request->http, request->connection, status, response);
}

/* The path is there, but not with this method. */
static enum MHD_Result refuse_method(struct http_request *request, const char *path, const struct http_route *route)
{
	bool is_post = route->method == HTTP_POST;
	struct MHD_Response *response =
		http_make_error(request->http, is_of_api(path), "bad_request",
				is_post ? "this takes POST only" : "this takes GET and HEAD only");

	if (response != NULL)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, is_post ? "POST" : "GET, HEAD");
	return send_response(request->http, request->connection, MHD_HTTP_METHOD_NOT_ALLOWED, response);
}

static const char *header_of(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/*
 * Whether this request may change something. The token stops everybody who can not read its file; a page of another
 * origin could not send it without asking first, and is told no all the same.
 */
static const char *check_change(const struct http_request *request, unsigned *status)
{
	const char *origin = header_of(request, MHD_HTTP_HEADER_ORIGIN);
	const char *authorization = header_of(request, MHD_HTTP_HEADER_AUTHORIZATION);
	const char *token = authorization != NULL ? http_bearer_token(authorization) : NULL;
	struct service *service = request->http->service;

	*status = MHD_HTTP_FORBIDDEN;
	if (!request->http->options.allows_trim)
		return "nothing can be changed over HTTP: qad was started without --http-allow-trim";
	if (origin != NULL && !http_is_same_origin(origin, header_of(request, MHD_HTTP_HEADER_HOST)))
		return "a page of another origin may not change anything";
	*status = MHD_HTTP_UNAUTHORIZED;
	if (token == NULL)
		return "a trim takes the header \"Authorization: Bearer TOKEN\"; the token is in the file of "
		       "--http-token-file";
	if (!http_is_secret(token, request->http->token)) {
		log_fault(service->log, uv_now(service->loop), "a trim over HTTP came with a wrong token");
		return "that is not the token in the file of --http-token-file";
	}
	return NULL;
}

/* NULL: wish is what is asked for. Else why not. */
static const char *read_wish(struct http_request *request, struct http_wish *wish, unsigned *status)
{
	const char *fault = wish->route->method == HTTP_POST ? check_change(request, status) : NULL;

	if (fault != NULL)
		return fault;
	*status = MHD_HTTP_BAD_REQUEST;
	fault = http_read_parameters(request->connection, wish);
	if (wish->route->is_scrape)
		wish->wants_openmetrics = http_prefers_openmetrics(header_of(request, MHD_HTTP_HEADER_ACCEPT));
	return fault;
}

/* It has sent along the mark of what it has, and that is still the same. */
static bool has_it_already(const struct http_request *request, struct MHD_Response *response)
{
	const char *etag = MHD_get_response_header(response, MHD_HTTP_HEADER_ETAG);
	const char *known = header_of(request, MHD_HTTP_HEADER_IF_NONE_MATCH);

	return etag != NULL && known != NULL && strcmp(etag, known) == 0;
}

/* What its job made; that is shared, so it stays the job's. */
static enum MHD_Result send_answer(struct http_request *request, const char *path)
{
	struct http_job *job = request->job;
	enum MHD_Result result;

	if (job->response == NULL) {
		http_job_release(request);
		return refuse(request, path, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "qad has no memory left for answers over HTTP; try again later");
	}
	if (has_it_already(request, job->response)) {
		struct MHD_Response *unchanged = http_make_unchanged(request->http, job->response);

		http_job_release(request);
		return send_response(request->http, request->connection, MHD_HTTP_NOT_MODIFIED, unchanged);
	}
	request->http->counters->refused += job->status >= 400;
	request->http->counters->scrapes += job->wish.route->is_scrape && job->status == MHD_HTTP_OK;
	result = MHD_queue_response(request->connection, job->status, job->response);
	http_job_release(request);
	return result;
}

/* It is whole, and nobody has looked at it. */
static enum MHD_Result begin_request(struct http_request *request, const char *path, const char *method)
{
	struct http *http = request->http;
	struct http_wish wish;
	unsigned status;
	const char *fault;

	http->counters->requests++;
	if (!http_connection_begin_answer(request->connection))
		return refuse(request, path, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "qad has too many connections of HTTP; try again later");
	fault = http_check(http, request->connection, &status);
	if (fault != NULL)
		return refuse(request, path, status, fault);
	switch (http_find_route(path, method, &wish)) {
	case HTTP_NO_PATH:
		return send_response(http, request->connection, MHD_HTTP_NOT_FOUND,
				     http_make_error(http, is_of_api(path), "not_found", "there is no such path"));
	case HTTP_NO_METHOD:
		return refuse_method(request, path, wish.route);
	case HTTP_FOUND:
		break;
	}
	fault = read_wish(request, &wish, &status);
	if (fault != NULL)
		return refuse(request, path, status, fault);
	if (http_job_for(http, request, &wish) == NULL)
		return refuse(request, path, MHD_HTTP_SERVICE_UNAVAILABLE, "qad is out of memory; try again later");
	if (request->job->is_answered)
		return send_answer(request, path);
	request->is_suspended = true;
	MHD_suspend_connection(request->connection);
	return MHD_YES;
}

/* The headers came. */
static enum MHD_Result create_request(struct http *http, struct MHD_Connection *connection, const char *path,
				      void **context)
{
	struct http_request *request = calloc(1, sizeof(*request));
	unsigned status;
	const char *fault;

	if (request == NULL)
		return MHD_NO;
	request->http = http;
	request->connection = connection;
	list_init(&request->link);
	*context = request;
	/* Before a body would be read. */
	fault = http_check(http, connection, &status);
	if (fault == NULL || status != MHD_HTTP_CONTENT_TOO_LARGE)
		return MHD_YES;
	http->counters->requests++;
	http_connection_begin_answer(connection);
	return refuse(request, path, status, fault);
}

enum MHD_Result http_on_request(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
				const char *version, const char *upload_data, size_t *upload_data_bytes, void **context)
{
	struct http_request *request = *context;

	(void)version;
	(void)upload_data;
	if (request == NULL)
		return create_request(closure, connection, url, context);
	if (*upload_data_bytes > 0)
		return MHD_NO; /* a body was refused already */
	if (request->job == NULL)
		return begin_request(request, url, method);
	return send_answer(request, url);
}

void http_on_completed(void *closure, struct MHD_Connection *connection, void **context,
		       enum MHD_RequestTerminationCode why)
{
	struct http_request *request = *context;

	(void)closure;
	(void)why;
	if (request == NULL)
		return;
	http_job_release(request);
	free(request);
	*context = NULL;
	http_connection_end_answer(connection);
}
