/*
 * fatal.h - libqa's last words when the heap is no longer to be trusted. Allocates nothing; any thread.
 */
#ifndef LIBQA_FATAL_H
#define LIBQA_FATAL_H

#include <stdint.h>

/*
 * Writes "libqa: WHAT: 0xADDRESS[, a block of size class N][, given back as one of M]" and aborts. A size of UINT32_MAX
 * is left out.
 */
_Noreturn void fatal_block(const char *what, const void *block, uint32_t block_size, uint32_t expected_size)
	__attribute__((cold));

#endif
