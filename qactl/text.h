/*
 * text.h - strings of others on a terminal.
 */
#ifndef QACTL_TEXT_H
#define QACTL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/*
 * Copies text so that it can do no harm on a terminal and can not be mistaken: control characters, invisible ones,
 * those that turn the writing direction, and what is not of the locale become \n, \t, \x1b, \u{202e}; a backslash
 * becomes two. Cut at a whole character when out_bytes is too small.
 */
void text_escape(char *out, size_t out_bytes, const char *text);

/* Whether a character is printable, yet can not be seen, or turns the text that follows. */
bool text_is_deceptive(wchar_t c);

/* The columns that an escaped text takes. */
size_t text_width(const char *text);

/* The bytes of the longest start of an escaped text that fits so many columns. */
size_t text_fit(const char *text, size_t columns);

#endif
