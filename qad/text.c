/*
 * An ill-formed byte is replaced alone, and the look begins anew at the next one.
 */
#include "text.h"

#include <string.h>

#include "utf8.h"

#define REPAIR_BYTES 4096u

static const char replacement[] = QP_UTF8_REPLACEMENT;

void text_copy(char *to, size_t size_bytes, const char *from, size_t from_bytes)
{
	size_t bytes = strnlen(from, from_bytes);
	size_t used = 0;

	for (size_t offset = 0; offset < bytes;) {
		size_t taken = qp_utf8_character(from + offset, bytes - offset);
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
