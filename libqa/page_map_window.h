/*
 * page_map_window.h - the window of libqa.so's page map (page_map.h), as the free of libqa_malloc.so sees it. The names
 * are aliases, made in page_map.c: libqa.so's own code goes on reaching its tables directly.
 */
#ifndef LIBQA_PAGE_MAP_WINDOW_H
#define LIBQA_PAGE_MAP_WINDOW_H

#include <stdatomic.h>
#include <stdint.h>

#include "page_map.h"

#pragma GCC visibility push(default)
extern uintptr_t qa_page_window_;
extern unsigned qa_page_shift_;
extern _Atomic uint8_t qa_page_kinds_[PAGE_MAP_WINDOW_UNITS];
#pragma GCC visibility pop

/* The kind of an address. False: it is not in the window. */
static inline __attribute__((always_inline)) bool window_kind(const void *address, unsigned *kind)
{
	return page_map_kind_in(qa_page_window_, qa_page_kinds_, qa_page_shift_, address, kind);
}

#endif
