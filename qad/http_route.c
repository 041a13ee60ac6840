/*
 * The table of all that can be asked. Rows are tried in order; there are few.
 */
#include <stdio.h>
#include <string.h>

#include "http_core.h"
#include "http_handlers.h"
#include "http_text.h"

static const char *const metrics_parameters[] = {"classes", NULL};
static const char *const trim_parameters[] = {"block_size", "pool", "keep_bytes", NULL};

static const char *const history_parameters[] = {"step_s", "from_s", "to_s", NULL};

static const struct http_route routes[] = {
	{"/", NULL, http_page, HTTP_GET},
	{"/page/*", NULL, http_page, HTTP_GET},
	{"/api/v1/targets", NULL, http_api_targets, HTTP_GET},
	{"/api/v1/targets/PID", NULL, http_api_target, HTTP_GET},
	{"/api/v1/targets/PID/history", history_parameters, http_api_target_history, HTTP_GET},
	{"/api/v1/targets/PID/map", NULL, http_api_map, HTTP_GET},
	{"/api/v1/history", history_parameters, http_api_history, HTTP_GET},
	{"/api/v1/health", NULL, http_api_health, HTTP_GET},
	{"/metrics", metrics_parameters, http_metrics, HTTP_GET, .is_scrape = true},
	{"/api/v1/targets/PID/trim", trim_parameters, http_trim, HTTP_POST},
};

static bool is_method_of(const struct http_route *route, const char *method)
{
	if (route->method == HTTP_POST)
		return strcmp(method, MHD_HTTP_METHOD_POST) == 0;
	return strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

enum http_found http_find_route(const char *path, const char *method, struct http_wish *wish)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		memset(wish, 0, sizeof(*wish));
		if (!http_path_is(routes[i].path, path, &wish->pid, wish->rest, sizeof(wish->rest)))
			continue;
		wish->route = &routes[i];
		return is_method_of(&routes[i], method) ? HTTP_FOUND : HTTP_NO_METHOD;
	}
	return HTTP_NO_PATH;
}

struct reading {
	struct http_wish *wish;
	const char *fault;
};

static int number_of(const struct http_route *route, const char *name)
{
	for (int i = 0; route->parameters != NULL && route->parameters[i] != NULL; i++)
		if (strcmp(route->parameters[i], name) == 0)
			return i;
	return -1;
}

static enum MHD_Result take_parameter(void *closure, enum MHD_ValueKind kind, const char *name, size_t name_bytes,
				      const char *value, size_t value_bytes)
{
	struct reading *reading = closure;
	struct http_wish *wish = reading->wish;
	int number = strlen(name) == name_bytes ? number_of(wish->route, name) : -1;

	(void)kind;
	if (number < 0)
		reading->fault = "the query has a parameter that is not known here";
	else if (wish->is_given[number])
		reading->fault = "the query has a parameter twice";
	else if (value == NULL || value_bytes > HTTP_VALUE_BYTES || memchr(value, '\0', value_bytes) != NULL)
		reading->fault = "the query has a parameter without a value, or with one that is too long";
	if (reading->fault != NULL)
		return MHD_NO;
	wish->is_given[number] = true;
	memcpy(wish->values[number], value, value_bytes);
	return MHD_YES;
}

const char *http_read_parameters(struct MHD_Connection *connection, struct http_wish *wish)
{
	struct reading reading = {.wish = wish};

	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, take_parameter, &reading);
	return reading.fault;
}

const char *http_parameter(const struct http_job *job, const char *name)
{
	int number = number_of(job->wish.route, name);

	return number >= 0 && job->wish.is_given[number] ? job->wish.values[number] : NULL;
}

bool http_parameter_u64(struct http_job *job, const char *name, uint64_t missing, uint64_t *value)
{
	const char *text = http_parameter(job, name);
	char message[128];

	*value = missing;
	if (text == NULL || http_read_u64(text, value))
		return true;
	snprintf(message, sizeof(message), "\"%s\" is a number without a sign", name);
	http_fail(job, MHD_HTTP_BAD_REQUEST, "bad_request", message);
	return false;
}
