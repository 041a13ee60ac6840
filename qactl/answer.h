/*
 * answer.h - what to tell the user when qad answers with an error, or with something that is not understood.
 */
#ifndef QACTL_ANSWER_H
#define QACTL_ANSWER_H

#include "read.h"

/*
 * 0 when the response is a result. Else says what its error means for the target called who ("docview, pid 7",
 * escaped; NULL when no target was asked) and returns the exit status: docs/PROTOCOL.md, "Errors".
 */
int answer_check(const struct qp_message *message, const char *who);

/*
 * What an answer that is an error means, as one line without a newline; escaped. Returns the exit status for it.
 */
int answer_describe(const struct qp_message *message, const char *who, char *text, size_t text_bytes);

/* The answer lacks a key or has it with a wrong type: says so, returns 76. */
int answer_fail(const struct qp_reader *reader);

/* There is no such target (who is escaped): says what to check, returns 67. */
int answer_no_target(const char *who);

#endif
