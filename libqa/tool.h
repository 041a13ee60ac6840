/*
 * tool.h - tells AddressSanitizer or Valgrind, when the program runs under one, which bytes of the pool are the
 * program's. Without a tool each does nothing.
 */
#ifndef LIBQA_TOOL_H
#define LIBQA_TOOL_H

#include <stdbool.h>
#include <stddef.h>

bool tool_is_present(void);

/* The program has the block from now on, and must not touch its guard. */
void tool_allocated(void *block, size_t usable, size_t guard);

/* libqa is about to look at a block that the program gives back, and at its guard. */
void tool_examined(void *block, size_t usable, size_t guard);

/* Nobody may touch the block or its guard. */
void tool_freed(void *block, size_t usable, size_t guard);

/* The bytes are libqa's again. */
void tool_forgotten(void *block, size_t size);

#endif
