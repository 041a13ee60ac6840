/*
 * One pass over the headers of the values, with a stack of how many values each open array or map still lacks. Beside
 * it runs one sum, owed_bytes: values that are announced but not seen, each of at least one byte. So
 *
 *     offset + owed_bytes  =  the least size that the frame can have,
 *
 * which refuses a frame that claims too much at the claim, and tells the caller how many bytes to wait for. In the same
 * way values + owed_bytes is the least number of values that it can have: a megabyte of one-byte values would take
 * 20 ms to decode, and 24 MiB. Sums are 64-bit; a header adds less than 2^33 and is refused at once when above the
 * limits, so none can overflow.
 */
#include "frame.h"

#include <stdbool.h>

#include "protocol.h"

struct scan {
	const uint8_t *data;
	uint64_t data_bytes;
	uint64_t offset;
	uint64_t owed_bytes;
	uint64_t values;
	uint32_t lacking[QP_DEPTH]; /* values that each open array or map still lacks; none is 0 */
	uint32_t depth;
};

/* What the header of a value says. */
struct header {
	enum { PLAIN, TEXT, ARRAY, MAP, REFUSED } type;
	uint32_t header_bytes; /* the first byte and, of TEXT, ARRAY and MAP, the length after it */
	uint32_t length;       /* PLAIN: bytes after the header; TEXT: bytes; ARRAY: elements; MAP: pairs */
};

/* Types 0xc0 to 0xdf, by their low five bits: the number of bytes of the length, or of the plain value. */
static const struct {
	uint8_t type, bytes;
} kinds[32] = {
	{PLAIN, 0},   {REFUSED, 0}, {PLAIN, 0},   {PLAIN, 0},                 /* nil, never used, false, true */
	{TEXT, 1},    {TEXT, 2},    {TEXT, 4},                                /* bin 8, 16, 32 */
	{REFUSED, 0}, {REFUSED, 0}, {REFUSED, 0},                             /* ext 8, 16, 32 */
	{PLAIN, 4},   {PLAIN, 8},                                             /* float 32, 64 */
	{PLAIN, 1},   {PLAIN, 2},   {PLAIN, 4},   {PLAIN, 8},                 /* uint 8 to 64 */
	{PLAIN, 1},   {PLAIN, 2},   {PLAIN, 4},   {PLAIN, 8},                 /* int 8 to 64 */
	{REFUSED, 0}, {REFUSED, 0}, {REFUSED, 0}, {REFUSED, 0}, {REFUSED, 0}, /* fixext 1 to 16 */
	{TEXT, 1},    {TEXT, 2},    {TEXT, 4},                                /* str 8, 16, 32 */
	{ARRAY, 2},   {ARRAY, 4},   {MAP, 2},     {MAP, 4},                   /* array and map, 16 and 32 */
};

/* Reads the header at data; available is at least 1. False: the length is not all there, only header_bytes counts. */
static bool read_header(const uint8_t *data, uint64_t available, struct header *header)
{
	uint8_t first = data[0];

	*header = (struct header){.type = PLAIN, .header_bytes = 1};
	if (first < 0x80 || first >= 0xe0)
		return true; /* a small integer */
	if (first < 0x90) {
		header->type = MAP;
		header->length = first & 0x0f;
		return true;
	}
	if (first < 0xa0) {
		header->type = ARRAY;
		header->length = first & 0x0f;
		return true;
	}
	if (first < 0xc0) {
		header->type = TEXT;
		header->length = first & 0x1f;
		return true;
	}

	uint32_t bytes = kinds[first & 0x1f].bytes;
	header->type = kinds[first & 0x1f].type;
	if (header->type == PLAIN) {
		header->length = bytes;
		return true;
	}
	header->header_bytes += bytes;
	if (available < header->header_bytes)
		return false;
	for (uint32_t i = 1; i <= bytes; i++)
		header->length = header->length << 8 | data[i];
	return true;
}

static bool is_above_limits(const struct scan *scan, const struct header *header)
{
	switch (header->type) {
	case TEXT:
		return header->length > QP_STRING_BYTES;
	case ARRAY:
		return header->length > QP_ARRAY_ELEMENTS || scan->depth == QP_DEPTH;
	case MAP:
		return header->length > QP_MAP_PAIRS || scan->depth == QP_DEPTH;
	default:
		return false;
	}
}

/* Enters a value whose header is whole: its bytes, or for an array or map the values that it announces. */
static void take_value(struct scan *scan, const struct header *header)
{
	uint32_t values = header->type == MAP ? header->length * 2 : header->length;

	scan->offset += header->header_bytes;
	scan->values++;
	if (scan->depth > 0) {
		scan->lacking[scan->depth - 1]--;
		scan->owed_bytes--;
	}
	if (header->type == PLAIN || header->type == TEXT) {
		scan->offset += header->length;
	} else {
		scan->lacking[scan->depth++] = values;
		scan->owed_bytes += values;
	}
	while (scan->depth > 0 && scan->lacking[scan->depth - 1] == 0)
		scan->depth--;
}

/* Not finished: too large already, or wait for the least size. extra_bytes: what this value needs beyond offset. */
static enum qp_frame more_needed(const struct scan *scan, uint32_t extra_bytes, size_t max_bytes, size_t *size_bytes)
{
	uint64_t owed = scan->owed_bytes > 0 ? scan->owed_bytes - 1 : 0; /* without the value at hand */
	uint64_t least = scan->offset + (extra_bytes > 0 ? owed + extra_bytes : scan->owed_bytes);

	if (least > max_bytes)
		return QP_FRAME_LARGE;
	*size_bytes = (size_t)least;
	return QP_FRAME_PART;
}

enum qp_frame qp_frame_scan(const uint8_t *data, size_t data_bytes, size_t max_bytes, size_t *size_bytes)
{
	struct scan scan = {.data = data, .data_bytes = data_bytes};

	*size_bytes = 0;
	if (data_bytes == 0)
		return more_needed(&scan, 1, max_bytes, size_bytes);
	do {
		struct header header;

		if (scan.offset >= scan.data_bytes)
			return more_needed(&scan, 0, max_bytes, size_bytes);
		bool has_length = read_header(data + scan.offset, scan.data_bytes - scan.offset, &header);
		if (header.type == REFUSED || (scan.depth == 0 && header.type != ARRAY))
			return QP_FRAME_BAD;
		if (!has_length)
			return more_needed(&scan, header.header_bytes, max_bytes, size_bytes);
		if (is_above_limits(&scan, &header))
			return QP_FRAME_SHAPE;
		if (scan.depth == 0 && header.length != 3 && header.length != 4)
			return QP_FRAME_BAD;
		take_value(&scan, &header);
		if (scan.values + scan.owed_bytes > QP_VALUES)
			return QP_FRAME_SHAPE;
		if (scan.offset + scan.owed_bytes > max_bytes)
			return QP_FRAME_LARGE;
	} while (scan.depth > 0);

	if (scan.offset > scan.data_bytes)
		return more_needed(&scan, 0, max_bytes, size_bytes);
	*size_bytes = (size_t)scan.offset;
	return QP_FRAME_WHOLE;
}

const char *qp_frame_text(enum qp_frame frame)
{
	switch (frame) {
	case QP_FRAME_WHOLE:
		return "whole";
	case QP_FRAME_PART:
		return "not whole yet";
	case QP_FRAME_BAD:
		return "not a message of the protocol";
	case QP_FRAME_SHAPE:
		return "nested deeper, or with a longer string, array or map, or more values, than allowed";
	case QP_FRAME_LARGE:
		return "larger than allowed";
	}
	return "unknown";
}
