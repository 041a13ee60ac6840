/*
 * http_handlers.h - what can be asked over HTTP: the functions behind the table in http_route.c.
 */
#ifndef QAD_HTTP_HANDLERS_H
#define QAD_HTTP_HANDLERS_H

struct http_job;

void http_metrics(struct http_job *job);
void http_trim(struct http_job *job);

#endif
