/*
 * A program chooses its own name, so a name may hold anything. What is shown is decided a character at a time, by the
 * locale: in a locale without UTF-8 every byte above 127 is escaped, as nobody knows how the terminal would take it.
 */
#include "text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wctype.h>

/* Printable for wctype(3), yet invisible, or they turn the text that follows them: zero width, separators, bidi. */
bool text_is_deceptive(wchar_t c)
{
	return c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

/* The escape of one character of bytes length; c is 0 when those bytes are no character. */
static void escape_character(char *piece, size_t piece_bytes, const char *text, size_t length, wchar_t c)
{
	static const char plain[] = "\nn\tt\rr\\\\";
	const char *known = c && length == 1 ? strchr(plain, *text) : NULL;

	if (known && (known - plain) % 2 == 0)
		snprintf(piece, piece_bytes, "\\%c", known[1]);
	else if (length == 1)
		snprintf(piece, piece_bytes, "\\x%02x", (unsigned)(unsigned char)*text);
	else
		snprintf(piece, piece_bytes, "\\u{%x}", (unsigned)c);
}

/* The next character's length in bytes; *c is 0 when it is none of this locale, the length then 1. */
static size_t next_character(const char *text, wchar_t *c)
{
	mbstate_t state;
	size_t length;

	memset(&state, 0, sizeof(state));
	length = mbrtowc(c, text, strlen(text), &state);
	if (length == 0 || length == (size_t)-1 || length == (size_t)-2) {
		*c = 0;
		return 1;
	}
	return length;
}

void text_escape(char *out, size_t out_bytes, const char *text)
{
	size_t used = 0;

	while (*text) {
		char piece[24];
		wchar_t c;
		size_t length = next_character(text, &c), piece_length;

		if (c && c != L'\\' && iswprint((wint_t)c) && wcwidth(c) >= 0 && !text_is_deceptive(c))
			snprintf(piece, sizeof(piece), "%.*s", (int)length, text);
		else
			escape_character(piece, sizeof(piece), text, length, c);
		piece_length = strlen(piece);
		if (used + piece_length >= out_bytes)
			break;
		memcpy(out + used, piece, piece_length);
		used += piece_length;
		text += length;
	}
	out[used] = '\0';
}

size_t text_width(const char *text)
{
	size_t columns = 0;

	while (*text) {
		wchar_t c;
		int width;

		text += next_character(text, &c);
		width = c ? wcwidth(c) : 1;
		columns += width > 0 ? (size_t)width : 0;
	}
	return columns;
}

size_t text_fit(const char *text, size_t columns)
{
	const char *end = text;

	while (*end) {
		wchar_t c;
		size_t length = next_character(end, &c);
		int width = c ? wcwidth(c) : 1;

		if (width > 0 && (size_t)width > columns)
			break;
		columns -= width > 0 ? (size_t)width : 0;
		end += length;
	}
	return (size_t)(end - text);
}
