/*
 * Well-formed is what the Unicode standard calls so (table 3-7): no overlong forms, no surrogates, nothing above
 * U+10FFFF. An ill-formed byte is replaced alone, and the look begins anew at the next one.
 */
#include "text.h"

#include <string.h>

#define REPAIR_BYTES 4096u

static const char replacement[] = "\xef\xbf\xbd";

/* The bytes of the well-formed character at the start, 0 when there is none. */
static size_t character_bytes(const unsigned char *text, size_t bytes)
{
	unsigned char first = text[0];
	unsigned char low = 0x80, high = 0xbf; /* of the second byte */
	size_t length = first < 0x80   ? 1
			: first < 0xc2 ? 0
			: first < 0xe0 ? 2
			: first < 0xf0 ? 3
			: first < 0xf5 ? 4
				       : 0;

	if (length <= 1)
		return length;
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;

	if (length > bytes || text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

void text_copy(char *to, size_t size_bytes, const char *from, size_t from_bytes)
{
	size_t bytes = strnlen(from, from_bytes);
	size_t used = 0;

	for (size_t offset = 0; offset < bytes;) {
		size_t taken = character_bytes((const unsigned char *)from + offset, bytes - offset);
		const char *source = taken > 0 ? from + offset : replacement;
		size_t length = taken > 0 ? taken : sizeof(replacement) - 1;

		if (used + length >= size_bytes)
			break;
		memcpy(to + used, source, length);
		used += length;
		offset += taken > 0 ? taken : 1;
	}
	to[used] = '\0';
}

void text_repair(char *text, size_t size_bytes)
{
	char copy[REPAIR_BYTES + 1];
	size_t bytes = strnlen(text, REPAIR_BYTES);

	memcpy(copy, text, bytes);
	text_copy(text, size_bytes, copy, bytes);
}
