/*
 * The scan against msgpack-c: what is whole decodes to just that size; no prefix of a whole frame is whole or refused;
 * a frame that is part asks for more than it has, and for no more than it turns out to need.
 */
#include <msgpack.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "frame.h"
#include "protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(int holds)
{
	if (!holds)
		abort();
}

static void check_decodes(const uint8_t *data, size_t bytes, size_t size)
{
	msgpack_unpacked unpacked;
	size_t offset = 0;

	check(size >= 4 && size <= bytes);
	msgpack_unpacked_init(&unpacked);
	check(msgpack_unpack_next(&unpacked, (const char *)data, bytes, &offset) == MSGPACK_UNPACK_SUCCESS);
	check(offset == size);
	check(unpacked.data.type == MSGPACK_OBJECT_ARRAY);
	check(unpacked.data.via.array.size == 3 || unpacked.data.via.array.size == 4);
	msgpack_unpacked_destroy(&unpacked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	size_t size, size_of_part;
	enum qp_frame frame = qp_frame_scan(data, bytes, QP_FRAME_CLIENT_BYTES, &size);

	check(qp_frame_text(frame) != NULL);
	if (frame == QP_FRAME_PART)
		check(size > bytes && size <= QP_FRAME_CLIENT_BYTES);
	if (frame < 0)
		check(size == 0);
	if (frame != QP_FRAME_WHOLE)
		return 0;

	check(size <= QP_FRAME_CLIENT_BYTES);
	check_decodes(data, bytes, size);
	check(qp_frame_scan(data, bytes, size, &size_of_part) == QP_FRAME_WHOLE && size_of_part == size);
	check(qp_frame_scan(data, bytes, size - 1, &size_of_part) == QP_FRAME_LARGE);
	for (size_t cut = 0; cut < size; cut += 1 + size / 64) {
		check(qp_frame_scan(data, cut, QP_FRAME_CLIENT_BYTES, &size_of_part) == QP_FRAME_PART);
		check(size_of_part > cut && size_of_part <= size);
	}
	return 0;
}
