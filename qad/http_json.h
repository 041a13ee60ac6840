/*
 * http_json.h - the answers of the protocol, as JSON.
 */
#ifndef QAD_HTTP_JSON_H
#define QAD_HTTP_JSON_H

#include "http.h"

/* An empty frame (service_begin_frame) into which the map of an answer is written, as for a client on the socket. */
struct qp_buffer *http_begin_frame(struct http_job *job);
/* Answers 200 with that map as a JSON object. */
void http_answer_frame(struct http_job *job);

#endif
