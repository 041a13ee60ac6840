/*
 * fatal.h - what libqa says on stderr: its last words when the heap is no longer to be trusted, and the warning about a
 * setting. Allocates nothing; any thread.
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

/* One line about a value that is not understood, and what is allowed; the program goes on. */
void warn_setting(const char *name, const char *value, const char *allowed) __attribute__((cold));

#endif
