/*
 * Characters are kept as the locale's bytes, for that is what they are compared with and shown as.
 */
#include "top/prompt.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "protocol.h"
#include "top/keys.h"

enum { CONTROL_U = 'U' - '@', DELAY_MOST_S = 86400 };

void prompt_begin(struct prompt *prompt, enum prompt_kind kind, const char *text)
{
	prompt->kind = kind;
	snprintf(prompt->text, sizeof(prompt->text), "%s", text);
}

/* Where the last character begins. */
static size_t last_character(const char *text)
{
	size_t at = 0, last = 0;

	while (text[at]) {
		mbstate_t state = {0};
		size_t length = mbrlen(text + at, MB_CUR_MAX, &state);

		last = at;
		at += length == 0 || length > MB_LEN_MAX ? 1 : length;
	}
	return last;
}

static bool append(struct prompt *prompt, int key)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t used = strlen(prompt->text), length;

	if (key < ' ' || key >= KEYS_UP || !iswprint((wint_t)key))
		return false;
	length = wcrtomb(bytes, (wchar_t)key, &state);
	if (length == (size_t)-1 || used + length >= sizeof(prompt->text))
		return false;
	memcpy(prompt->text + used, bytes, length);
	prompt->text[used + length] = '\0';
	return true;
}

enum prompt_news prompt_key(struct prompt *prompt, int key)
{
	if (prompt->kind == PROMPT_TRIM)
		return key == 'y' || key == 'Y' ? PROMPT_DONE : PROMPT_GIVEN_UP;
	switch (key) {
	case KEYS_ENTER:
		return PROMPT_DONE;
	case KEYS_ESCAPE:
		return PROMPT_GIVEN_UP;
	case KEYS_BACKSPACE:
		if (!prompt->text[0])
			return PROMPT_GIVEN_UP;
		prompt->text[last_character(prompt->text)] = '\0';
		return PROMPT_CHANGED;
	case CONTROL_U:
		prompt->text[0] = '\0';
		return PROMPT_CHANGED;
	default:
		return append(prompt, key) ? PROMPT_CHANGED : PROMPT_GOES_ON;
	}
}

bool prompt_read_delay(const char *text, unsigned *delay_ms)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds * 1000 >= QP_WATCH_MS) || seconds > DELAY_MOST_S)
		return false;
	*delay_ms = (unsigned)(seconds * 1000 + 0.5);
	return true;
}
