/*
 * prompt.h - the line at the bottom in which the user types: a filter, a delay, the answer to a question. Pure.
 */
#ifndef QACTL_PROMPT_H
#define QACTL_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

enum prompt_kind { PROMPT_NONE, PROMPT_FILTER, PROMPT_DELAY, PROMPT_TRIM };
enum prompt_news { PROMPT_GOES_ON, PROMPT_CHANGED, PROMPT_DONE, PROMPT_GIVEN_UP };

enum { PROMPT_BYTES = 65 };

struct prompt {
	enum prompt_kind kind;
	char text[PROMPT_BYTES]; /* as typed */
};

/* text: what stands there first. */
void prompt_begin(struct prompt *prompt, enum prompt_kind kind, const char *text);

/* A key of keys.h, or a character. A question (PROMPT_TRIM) is done by y alone, and given up by anything else. */
enum prompt_news prompt_key(struct prompt *prompt, int key);

/* Milliseconds of a delay in seconds, 0.1 to a day; false: it is none. */
bool prompt_read_delay(const char *text, unsigned *delay_ms);

#endif
