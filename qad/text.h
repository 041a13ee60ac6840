/*
 * text.h - makes UTF-8 of bytes that somebody else wrote.
 */
#ifndef QAD_TEXT_H
#define QAD_TEXT_H

#include <stddef.h>

/*
 * Copies bytes up to a NUL or from_bytes, whichever is first, replacing what is not UTF-8 by U+FFFD, and ends it with a
 * NUL. What does not fit is cut at a whole character. size_bytes is at least 1. Control characters are kept.
 */
void text_copy(char *to, size_t size_bytes, const char *from, size_t from_bytes);

/* The same in place, for a NUL-terminated text of at most 4,096 bytes. */
void text_repair(char *text, size_t size_bytes);

#endif
