/*
 * utf8.h - texts that somebody else wrote: what is a character in them, and where to cut one that is too long.
 */
#ifndef QP_UTF8_H
#define QP_UTF8_H

#include <stddef.h>

/* The bytes of the well-formed character at the start of a text of at least 1 byte; 0 when there is none. */
size_t qp_utf8_character(const char *text, size_t text_bytes);

/* What stands in the place of a byte that is not UTF-8: U+FFFD. */
#define QP_UTF8_REPLACEMENT "\xef\xbf\xbd"

/*
 * How many of text_bytes bytes to keep so that at most room_bytes are kept and no UTF-8 character is cut. At most three
 * bytes are given up for that: what looks like a longer run of continuation bytes is not UTF-8, and is cut where it
 * falls.
 */
static inline size_t qp_utf8_cut(const char *text, size_t text_bytes, size_t room_bytes)
{
	if (text_bytes <= room_bytes)
		return text_bytes;
	for (size_t end = room_bytes; end + 3 >= room_bytes; end--) {
		if (((unsigned char)text[end] & 0xc0) != 0x80)
			return end;
		if (end == 0)
			break;
	}
	return room_bytes;
}

#endif
