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

/* The unit of an address in the window; PAGE_MAP_WINDOW_UNITS or more: it is not there. */
static inline uintptr_t window_unit(const void *address)
{
	return ((uintptr_t)address - qa_page_window_) >> qa_page_shift_;
}

static inline uint8_t window_kind(uintptr_t unit)
{
	return atomic_load_explicit(&qa_page_kinds_[unit], memory_order_relaxed); /* as in page_map_kind */
}

#endif
