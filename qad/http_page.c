/*
 * The page: "/" is its index, and "/page/NAME" each of its files. The table of them is empty when qad was built without
 * what the page needs from npm; "/" then says so.
 */
#include "http_page.h"

#include <string.h>

#include <microhttpd.h>

#include "http_handlers.h"

#define INDEX "index.html"

static const char missing[] =
	"This qad was built without its page, which needs uPlot from npm. To get it, in qad's source:\n"
	"    script/bootstrap --build      (or: npm ci in qad/dashboard; both need the network once)\n"
	"    meson setup --reconfigure build -Ddashboard=enabled && meson compile -C build\n"
	"Without it there are /metrics, /api/v1/targets, and `qactl top` in a terminal.";

static const struct http_page_file *find_file(const char *name)
{
	for (const struct http_page_file *file = http_page_files; file->name != NULL; file++)
		if (strcmp(file->name, name) == 0)
			return file;
	return NULL;
}

void http_page(struct http_job *job)
{
	const char *name = job->wish.rest[0] != '\0' ? job->wish.rest : INDEX;
	const struct http_page_file *file = find_file(name);

	if (file != NULL)
		http_answer_static(job, file->type, file->data, file->size_bytes, file->etag);
	else if (http_page_files[0].name == NULL)
		http_fail(job, MHD_HTTP_NOT_FOUND, "no_page", missing);
	else
		http_fail(job, MHD_HTTP_NOT_FOUND, "no_page", "the page has no such file");
}
