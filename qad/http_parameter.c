/*
 * The parameters of a query, for which a route has a place each: read before the handler runs, given to it by name.
 */
#include <stdio.h>
#include <string.h>

#include "http_core.h"
#include "http_text.h"

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
