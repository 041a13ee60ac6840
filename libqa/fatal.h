/*
 * fatal.h - how libqa ends the program when its heap is no longer to be trusted.
 */
#ifndef LIBQA_FATAL_H
#define LIBQA_FATAL_H

#include <stdint.h>

/*
 * Writes "libqa: WHAT: 0xADDRESS[, size class N][, expected M]" to stderr and aborts. A size of UINT32_MAX is left out.
 * Allocates nothing.
 */
_Noreturn void fatal_block(const char *what, const void *block, uint32_t block_size, uint32_t expected_size)
	__attribute__((cold));

/* One line "libqa: ..." on stderr, made of a name, a value and a sentence; the program goes on. Allocates nothing. */
void warn_setting(const char *name, const char *value, const char *allowed) __attribute__((cold));

#endif
