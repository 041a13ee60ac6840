/*
 * http_page.h - the files of the page, embedded by dashboard/embed.py.
 */
#ifndef QAD_HTTP_PAGE_H
#define QAD_HTTP_PAGE_H

#include "http.h"

struct http_page_file {
	const char *name; /* NULL ends the table */
	enum http_type type;
	const void *data;
	size_t size_bytes;
	const char *etag;
};

extern const struct http_page_file http_page_files[];

#endif
