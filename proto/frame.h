/*
 * frame.h - finds whole frames in a stream of bytes and checks their shape, before anything is decoded.
 *
 * msgpack-c reserves memory for what an array header claims, so a frame reaches it only after this scan.
 * The scan allocates nothing, looks at each value once per call, and never reads past the end.
 */
#ifndef QP_FRAME_H
#define QP_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum qp_frame {
	QP_FRAME_WHOLE = 1,  /* *size_bytes is the frame's size */
	QP_FRAME_PART = 0,   /* more bytes are needed; *size_bytes is the least that the frame will have */
	QP_FRAME_BAD = -1,   /* not MessagePack, an extension type, or not an array of 3 or 4 elements */
	QP_FRAME_SHAPE = -2, /* deeper, longer or wider than the limits allow, or with more values */
	QP_FRAME_LARGE = -3, /* already more than max_bytes, or sure to become so */
};

/*
 * Looks for one frame at the start of data. max_bytes is the limit for this peer (protocol.h).
 * Thread-safe, no state. On PART, no call can succeed before *size_bytes bytes are there: a caller that waits for these
 * before it scans again does little work for a peer that sends byte by byte. Otherwise *size_bytes is 0.
 */
enum qp_frame qp_frame_scan(const uint8_t *data, size_t data_bytes, size_t max_bytes, size_t *size_bytes);

/* A short text for a log line: "larger than allowed" and the like. Never NULL. */
const char *qp_frame_text(enum qp_frame frame);

#endif
