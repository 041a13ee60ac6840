/*
 * agent_answer.h - what the agent answers to a frame of qad. No I/O: bytes in, bytes out.
 */
#ifndef LIBQA_AGENT_ANSWER_H
#define LIBQA_AGENT_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

enum { AGENT_HELLO_ID = 0 }; /* the only request that the agent ever makes */

enum agent_answer {
	AGENT_ANSWER_GIVEN,   /* out has an answer, good or bad */
	AGENT_ANSWER_NONE,    /* nothing to say: a notification, or a response that nobody waits for */
	AGENT_ANSWER_WELCOME, /* the good response to hello */
	AGENT_ANSWER_DROP,    /* not a message, or hello refused: the connection is of no use */
};

/* The request hello, into an empty buffer. */
void agent_answer_hello(struct qp_buffer *out);

/*
 * Takes one frame that qp_frame_scan called whole. out is empty. scratch, aligned to 8 bytes, is for decoding and for
 * the rows of the statistics; *scratch_used says how much of it was written at most.
 */
enum agent_answer agent_answer_frame(struct qp_buffer *out, const uint8_t *frame, size_t frame_bytes, void *scratch,
				     size_t scratch_bytes, size_t *scratch_used);

#endif
