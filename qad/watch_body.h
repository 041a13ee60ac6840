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

/*
 * All that these rights may see, as "left_out" and "targets"; NULL without memory, failed when it is too large. Kept as
 * watching->body for who comes next with the same rights, and not older than a moment.
 */
struct body *watch_make_body(struct watching *watching, const struct rights *rights);
/* At once: there are newer figures, or nobody is left; or unless it is in memory anyway, since somebody still reads it.
 */
void watch_forget_body(struct watching *watching);
void watch_rest_body(struct watching *watching);

#endif
