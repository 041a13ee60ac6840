/*
 * Well-formed is what the Unicode standard calls so (table 3-7): no overlong forms, no surrogates, nothing above
 * U+10FFFF.
 */
#include "utf8.h"

size_t qp_utf8_character(const char *text, size_t text_bytes)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned char first = bytes[0];
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

	if (length > text_bytes || bytes[1] < low || bytes[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}
