/*
 * align.h - arithmetic with alignments.
 */
#ifndef LIBQA_ALIGN_H
#define LIBQA_ALIGN_H

#include <stdbool.h>
#include <stddef.h>

/* A power of two, as each alignment is; 0 is none. */
static inline bool align_is_valid(size_t align)
{
	return align != 0 && (align & (align - 1)) == 0;
}

/* The next multiple of the alignment, or the size itself. The caller sees to it that there is one. */
static inline size_t align_up(size_t size, size_t align)
{
	return (size + align - 1) & ~(align - 1);
}

#endif
