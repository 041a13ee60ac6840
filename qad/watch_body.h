/*
 * watch_body.h - what a notification of a watch says of targets.
 */
#ifndef QAD_WATCH_BODY_H
#define QAD_WATCH_BODY_H

#include "access.h"
#include "target.h"
#include "watch.h"

/* One target with what is known of it, a map. */
void watch_write_target(struct qp_buffer *out, const struct target *target, uint64_t now_ms, bool with_classes);

/* Makes watching->body all that these rights may see, as "left_out" and "targets"; kept until it is forgotten. */
void watch_make_body(struct watching *watching, const struct rights *rights);
void watch_forget_body(struct watching *watching);

#endif
