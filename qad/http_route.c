/*
 * The table of all that can be asked. Rows are tried in order; there are few.
 */
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
