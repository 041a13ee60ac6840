/*
 * No stack trace and no attempt to go on: the line names the block, and the core has the rest.
 */
#include "fatal.h"

#include <stdlib.h>

#include "line.h"

void fatal_block(const char *what, const void *block, uint32_t block_size, uint32_t expected_size)
{
	struct line line;
	line_begin(&line);
	line_add(&line, what);
	line_add(&line, ": 0x");
	line_add_number(&line, (uintptr_t)block, 16);
	if (block_size != UINT32_MAX) {
		line_add(&line, ", a block of size class ");
		line_add_number(&line, block_size, 10);
	}
	if (expected_size != UINT32_MAX) {
		line_add(&line, ", given back as one of ");
		line_add_number(&line, expected_size, 10);
	}
	line_write(&line);
	abort();
}
