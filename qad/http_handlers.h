/*
 * http_handlers.h - what can be asked over HTTP: the functions behind the table in http_route.c.
 */
#ifndef QAD_HTTP_HANDLERS_H
#define QAD_HTTP_HANDLERS_H

struct http_job;

void http_metrics(struct http_job *job);
void http_trim(struct http_job *job);

/* http_api.c: to be read, as JSON. */
void http_api_targets(struct http_job *job);
void http_api_target(struct http_job *job);
void http_api_target_history(struct http_job *job);
void http_api_map(struct http_job *job);
void http_api_history(struct http_job *job);
void http_api_health(struct http_job *job);

/* The page and its files. */
void http_page(struct http_job *job);

#endif
