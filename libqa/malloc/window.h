/*
 * window.h - the window of libqa.so's page map (page_map.h), as the free of libqa_malloc.so sees it. The names are
 * aliases, made in page_map.c: libqa.so's own code goes on reaching its tables directly.
 */
#ifndef LIBQA_MALLOC_WINDOW_H
#define LIBQA_MALLOC_WINDOW_H

#include <stdatomic.h>
#include <stdint.h>

#include "page_map.h"

#pragma GCC visibility push(default)
extern uintptr_t qa_page_window_;
extern unsigned qa_page_shift_;
extern _Atomic uint8_t qa_page_kinds_[PAGE_MAP_WINDOW_UNITS];
#pragma GCC visibility pop

/*
 * The kind of an address: a class, large, or none. False: it is not in the window.
 *
 * The next allocation waits for the free's store to the list, whose own address hangs on the kind. So nothing but a
 * shift, a load and the address of the list may lie between the block and that store: the window's start is taken off
 * the table's address, which is known early, and the compiler is kept from undoing that, and from widening the byte
 * once more where it is used twice. Without, a pair of malloc and free took 5 or 8 ns, for milliseconds each.
 */
static inline __attribute__((always_inline)) bool window_kind(const void *address, unsigned *kind)
{
	unsigned shift = qa_page_shift_;
	uintptr_t first = qa_page_window_ >> shift, unit = (uintptr_t)address >> shift;
	uintptr_t table = (uintptr_t)qa_page_kinds_ - first;
	__asm__("" : "+r"(table), "+r"(unit));
	if (QA_UNLIKELY_(unit - first >= PAGE_MAP_WINDOW_UNITS))
		return false;
	/* relaxed: as in page_map_kind */
	unsigned found = atomic_load_explicit((_Atomic uint8_t *)(table + unit), memory_order_relaxed);
	__asm__("" : "+r"(found));
	*kind = found;
	return true;
}

#endif
