/*
 * utf8.h - where to cut a text that is too long, so that no character is torn. Inside proto only.
 */
#ifndef QP_UTF8_H
#define QP_UTF8_H

#include <stddef.h>

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
