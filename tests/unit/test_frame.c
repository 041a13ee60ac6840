/*
 * The scan: whole frames at every cut, each limit at and above, each type, and that what it calls whole msgpack-c
 * decodes.
 */
#include "test.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "protocol.h"

#define MANY (16u << 20)

/* Scans a copy of exactly bytes, so that a sanitizer sees a read past the end. */
static enum qp_frame scan_exact(const void *data, size_t bytes, size_t max_bytes, size_t *size_bytes)
{
	uint8_t *copy = malloc(bytes > 0 ? bytes : 1);

	assert_non_null(copy);
	memcpy(copy, data, bytes);
	enum qp_frame frame = qp_frame_scan(copy, bytes, max_bytes, size_bytes);
	free(copy);
	return frame;
}

static enum qp_frame scan(const void *data, size_t bytes)
{
	size_t size;

	return scan_exact(data, bytes, MANY, &size);
}

/* A frame of three elements, the last being value. Returns its size. */
static size_t frame_around(uint8_t *out, const void *value, size_t value_bytes)
{
	memcpy(out, "\x93\x02\xa1m", 4);
	memcpy(out + 4, value, value_bytes);
	return 4 + value_bytes;
}

/*
 * Every prefix is PART and asks for more than it has but not more than the whole; the whole is WHOLE, also with more
 * behind.
 */
static void assert_whole_only_at(const uint8_t *frame, size_t bytes)
{
	size_t size;

	for (size_t cut = 0; cut < bytes; cut++) {
		assert_int_equal(scan_exact(frame, cut, MANY, &size), QP_FRAME_PART);
		assert_in_range(size, cut + 1, bytes);
	}
	assert_int_equal(scan_exact(frame, bytes, MANY, &size), QP_FRAME_WHOLE);
	assert_int_equal(size, bytes);
	assert_int_equal(scan_exact(frame, bytes, bytes, &size), QP_FRAME_WHOLE);
	assert_int_equal(scan_exact(frame, bytes, bytes - 1, &size), QP_FRAME_LARGE);
	assert_int_equal(size, 0);

	uint8_t *longer = malloc(bytes + 3);
	assert_non_null(longer);
	memcpy(longer, frame, bytes);
	memcpy(longer + bytes, "\xc1\xc1\xc1", 3);
	assert_int_equal(scan_exact(longer, bytes + 3, MANY, &size), QP_FRAME_WHOLE);
	assert_int_equal(size, bytes);
	free(longer);
}

static void test_cut_at_every_byte(void **state)
{
	(void)state;
	msgpack_sbuffer out;
	msgpack_packer packer;

	msgpack_sbuffer_init(&out);
	msgpack_packer_init(&packer, &out, msgpack_sbuffer_write);
	msgpack_pack_array(&packer, 4);
	msgpack_pack_int(&packer, 0);
	msgpack_pack_uint32(&packer, 4000000000u);
	msgpack_pack_str_with_body(&packer, "stats", 5);
	msgpack_pack_map(&packer, 5);
	msgpack_pack_str_with_body(&packer, "pid", 3);
	msgpack_pack_int64(&packer, -123456789012345);
	msgpack_pack_str_with_body(&packer, "long", 4);
	char text[300] = "";
	msgpack_pack_str_with_body(&packer, text, sizeof(text));
	msgpack_pack_str_with_body(&packer, "bin", 3);
	msgpack_pack_bin_with_body(&packer, text, 40);
	msgpack_pack_str_with_body(&packer, "rows", 4);
	msgpack_pack_array(&packer, 20);
	for (int i = 0; i < 20; i++)
		msgpack_pack_double(&packer, i);
	msgpack_pack_str_with_body(&packer, "empty", 5);
	msgpack_pack_array(&packer, 2);
	msgpack_pack_array(&packer, 0);
	msgpack_pack_map(&packer, 0);
	assert_whole_only_at((const uint8_t *)out.data, out.size);
	msgpack_sbuffer_destroy(&out);
}

/* Every first byte, with payload enough behind it: accepted or refused as the specification says, cut anywhere. */
static void test_every_type(void **state)
{
	(void)state;

	for (int first = 0; first < 256; first++) {
		uint8_t value[64] = {(uint8_t)first}, frame[80];
		size_t bytes;

		if (first == 0xc1 || (first >= 0xc7 && first <= 0xc9) || (first >= 0xd4 && first <= 0xd8)) {
			bytes = frame_around(frame, value, 20);
			assert_int_equal(scan(frame, bytes), QP_FRAME_BAD);
			assert_int_equal(scan(frame, 5), QP_FRAME_BAD);
			continue;
		}
		if (first >= 0x80 && first <= 0x8f)
			bytes = 1 + 2 * (size_t)(first & 15);
		else if (first >= 0x90 && first <= 0x9f)
			bytes = 1 + (size_t)(first & 15);
		else if (first >= 0xa0 && first <= 0xbf)
			bytes = 1 + (size_t)(first & 31);
		else if (first == 0xcc || first == 0xd0 || first == 0xc4 || first == 0xd9)
			bytes = 2;
		else if (first == 0xcd || first == 0xd1 || first == 0xc5 || first == 0xda || first == 0xdc ||
			 first == 0xde)
			bytes = 3;
		else if (first == 0xce || first == 0xd2 || first == 0xc6 || first == 0xdb || first == 0xdd ||
			 first == 0xdf || first == 0xca)
			bytes = 5;
		else if (first == 0xcf || first == 0xd3 || first == 0xcb)
			bytes = 9;
		else
			bytes = 1;
		bytes = frame_around(frame, value, bytes);
		assert_whole_only_at(frame, bytes);
	}
}

static void test_outermost(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
		enum qp_frame frame;
	} cases[] = {
		{"\x92\x01\x02", 3, QP_FRAME_BAD},
		{"\x95\x01\x02\x03\x04\x05", 6, QP_FRAME_BAD},
		{"\x90", 1, QP_FRAME_BAD},
		{"\x83\x01\x02\x03\x04\x05\x06", 7, QP_FRAME_BAD},
		{"\x01", 1, QP_FRAME_BAD},
		{"\xc0", 1, QP_FRAME_BAD},
		{"\xc1", 1, QP_FRAME_BAD},
		{"\xa3xyz", 4, QP_FRAME_BAD},
		{"\xd9", 1, QP_FRAME_BAD},
		{"\xdf", 1, QP_FRAME_BAD},
		{"GET / HTTP/1.1\r\n", 16, QP_FRAME_BAD},
		{"\x93\x01\x02\x03", 4, QP_FRAME_WHOLE},
		{"\xdc\x00\x03\x01\x02\x03", 6, QP_FRAME_WHOLE},
		{"\xdd\x00\x00\x00\x04\x01\x02\x03\x04", 9, QP_FRAME_WHOLE},
		{"\xdc\x00\x05", 3, QP_FRAME_BAD},
		{"\xdd\x00\x00\x00", 4, QP_FRAME_PART},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(scan(cases[i].bytes, cases[i].size), cases[i].frame);
}

static void test_four_billion(void **state)
{
	(void)state;
	uint8_t frame[16];

	assert_int_equal(scan("\xdd\xff\xff\xff\xff", 5), QP_FRAME_SHAPE);
	for (int type = 0; type < 4; type++) {
		uint8_t value[5] = {(uint8_t[]){0xdd, 0xdf, 0xdb, 0xc6}[type], 0xff, 0xff, 0xff, 0xff};
		size_t bytes = frame_around(frame, value, sizeof(value));

		assert_int_equal(scan(frame, bytes), QP_FRAME_SHAPE);
		assert_int_equal(scan(frame, bytes - 1), QP_FRAME_PART);
	}
}

/* A header of 32-bit length, followed by so many bytes of small integers, which also serve as text. */
static enum qp_frame scan_of_length(uint8_t type, uint32_t length, size_t payload_bytes)
{
	uint8_t *frame = calloc(1, 9 + payload_bytes);
	size_t size;

	assert_non_null(frame);
	uint8_t value[5] = {type, (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8),
			    (uint8_t)length};
	frame_around(frame, value, sizeof(value));
	enum qp_frame outcome = scan_exact(frame, 9 + payload_bytes, MANY, &size);
	free(frame);
	return outcome;
}

static void test_lengths_at_and_above_limits(void **state)
{
	(void)state;
	static const struct {
		uint8_t type;
		uint32_t limit, bytes_each;
	} cases[] = {
		{0xdd, QP_ARRAY_ELEMENTS, 1},
		{0xdf, QP_MAP_PAIRS, 2},
		{0xdb, QP_STRING_BYTES, 1},
		{0xc6, QP_STRING_BYTES, 1},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t limit = cases[i].limit, each = cases[i].bytes_each;

		assert_int_equal(scan_of_length(cases[i].type, limit, limit * each), QP_FRAME_WHOLE);
		assert_int_equal(scan_of_length(cases[i].type, limit, limit * each - 1), QP_FRAME_PART);
		assert_int_equal(scan_of_length(cases[i].type, limit + 1, limit * each + each), QP_FRAME_SHAPE);
		assert_int_equal(scan_of_length(cases[i].type, limit + 1, 0), QP_FRAME_SHAPE);
	}
}

static void test_depth_at_and_above_limit(void **state)
{
	(void)state;
	static const uint8_t openers[][2] = {{0x91}, {0x81, 0x01}}; /* an array of one; a map of one, with its key */

	for (size_t kind = 0; kind < COUNT(openers); kind++) {
		for (uint32_t inner = 0; inner < 12; inner++) {
			uint8_t frame[64] = {0x93, 0x02, 0xa1, 'm'};
			size_t bytes = 4;

			for (uint32_t i = 0; i < inner; i++) {
				frame[bytes++] = openers[kind][0];
				if (kind == 1)
					frame[bytes++] = openers[kind][1];
			}
			frame[bytes++] = 0x05;
			assert_int_equal(scan(frame, bytes), inner + 1 <= QP_DEPTH ? QP_FRAME_WHOLE : QP_FRAME_SHAPE);
			/* An empty one counts as well. */
			frame[bytes - 1] = 0x90;
			assert_int_equal(scan(frame, bytes), inner + 2 <= QP_DEPTH ? QP_FRAME_WHOLE : QP_FRAME_SHAPE);
		}
	}
}

/* Arrays of small integers in an array, so that the frame has just so many values. Returns its size. */
static size_t frame_of_values(uint8_t *frame, size_t values)
{
	size_t left = values - 4 - 64; /* the frame, its three elements, and the inner arrays */
	size_t bytes = frame_around(frame, "\xdc\x00\x40", 3);

	for (int i = 0; i < 64; i++) {
		size_t count = i < 63 ? QP_ARRAY_ELEMENTS : left;

		frame[bytes++] = 0xdc;
		frame[bytes++] = (uint8_t)(count >> 8);
		frame[bytes++] = (uint8_t)count;
		memset(frame + bytes, 0x05, count);
		bytes += count;
		left -= count;
	}
	return bytes;
}

static void test_values_of_a_frame(void **state)
{
	(void)state;
	uint8_t *frame = malloc(2 * QP_VALUES);
	size_t bytes, last = (QP_VALUES - 4 - 64) % QP_ARRAY_ELEMENTS;

	assert_non_null(frame);
	bytes = frame_of_values(frame, QP_VALUES);
	assert_int_equal(scan(frame, bytes), QP_FRAME_WHOLE);
	bytes = frame_of_values(frame, QP_VALUES + 1);
	assert_int_equal(scan(frame, bytes), QP_FRAME_SHAPE);
	/* At the claim, before its bytes arrive. */
	assert_int_equal(scan(frame, bytes - last - 1), QP_FRAME_SHAPE);
	assert_int_equal(scan(frame, bytes - last - 2), QP_FRAME_PART);
	free(frame);
}

/* What must become too large is refused at the claim, before its bytes arrive. */
static void test_claim_above_max_bytes(void **state)
{
	(void)state;
	uint8_t frame[16];
	size_t size;
	/* header of 4, array of 1000: 4 + 3 + 1000 bytes at least. */
	size_t bytes = frame_around(frame, "\xdc\x03\xe8", 3);

	assert_int_equal(scan_exact(frame, bytes, 1007, &size), QP_FRAME_PART);
	assert_int_equal(size, 1007);
	assert_int_equal(scan_exact(frame, bytes, 1006, &size), QP_FRAME_LARGE);
	/* bin of 1000. */
	bytes = frame_around(frame, "\xc5\x03\xe8", 3);
	assert_int_equal(scan_exact(frame, bytes, 1007, &size), QP_FRAME_PART);
	assert_int_equal(size, 1007);
	assert_int_equal(scan_exact(frame, bytes, 1006, &size), QP_FRAME_LARGE);
	/* map of 100: 200 values. */
	bytes = frame_around(frame, "\xde\x00\x64", 3);
	assert_int_equal(scan_exact(frame, bytes, 207, &size), QP_FRAME_PART);
	assert_int_equal(size, 207);
	assert_int_equal(scan_exact(frame, bytes, 206, &size), QP_FRAME_LARGE);
	/* A header that is not whole, and values after it: its own three bytes and one for each of the two. */
	assert_int_equal(scan_exact("\x93\xda", 2, 6, &size), QP_FRAME_PART);
	assert_int_equal(size, 6);
	assert_int_equal(scan_exact("\x93\xda", 2, 5, &size), QP_FRAME_LARGE);
	assert_int_equal(scan_exact("", 0, 0, &size), QP_FRAME_LARGE);
}

/* Waiting for the size that PART names, a frame of the client's size that comes byte by byte needs few scans. */
static void test_byte_by_byte_needs_few_scans(void **state)
{
	(void)state;
	static uint8_t frame[QP_FRAME_CLIENT_BYTES];
	size_t bytes = 0, size = 0, scans = 0, have = 0;

	memcpy(frame, "\x94\x00\x01\xa1m\xdc\x04\x00", 8);
	for (bytes = 8; bytes + 15 <= sizeof(frame) && (bytes - 8) / 15 < 1024; bytes += 15)
		memcpy(frame + bytes, "\xaetext of 14 byt", 15);
	assert_int_equal((bytes - 8) / 15, 1024);
	for (;;) {
		enum qp_frame outcome = qp_frame_scan(frame, have, sizeof(frame), &size);

		scans++;
		if (outcome == QP_FRAME_WHOLE)
			break;
		assert_int_equal(outcome, QP_FRAME_PART);
		assert_in_range(size, have + 1, bytes);
		have = size;
	}
	assert_int_equal(size, bytes);
	assert_in_range(scans, 1, 150);
}

/* Random bytes behind a good beginning: whatever is called whole, msgpack-c decodes to the same size. */
static void test_whole_is_decodable(void **state)
{
	(void)state;
	uint32_t random = 12345;
	int wholes = 0;

	for (int round = 0; round < 200000; round++) {
		uint8_t data[48] = {0x93 + (round & 1)};
		size_t size, offset = 0;

		for (size_t i = 1; i < sizeof(data); i++) {
			random = random * 1664525u + 1013904223u;
			data[i] = (uint8_t)(random >> 24);
		}
		if (scan_exact(data, sizeof(data), MANY, &size) != QP_FRAME_WHOLE)
			continue;
		wholes++;
		msgpack_unpacked unpacked;
		msgpack_unpacked_init(&unpacked);
		assert_int_equal(msgpack_unpack_next(&unpacked, (char *)data, sizeof(data), &offset),
				 MSGPACK_UNPACK_SUCCESS);
		assert_int_equal(offset, size);
		msgpack_unpacked_destroy(&unpacked);
	}
	assert_true(wholes > 1000);
}

static void test_texts(void **state)
{
	(void)state;

	for (int frame = -4; frame < 3; frame++)
		assert_true(strlen(qp_frame_text((enum qp_frame)frame)) > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_outermost),
		cmocka_unit_test(test_four_billion),
		cmocka_unit_test(test_lengths_at_and_above_limits),
		cmocka_unit_test(test_depth_at_and_above_limit),
		cmocka_unit_test(test_values_of_a_frame),
		cmocka_unit_test(test_claim_above_max_bytes),
		cmocka_unit_test(test_byte_by_byte_needs_few_scans),
		cmocka_unit_test(test_whole_is_decodable),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
