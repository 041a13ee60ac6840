/*
 * space.h - the address space that pages come from, and the empty pages that wait.
 *
 * A page without a block out is put here. It stays in memory, and counts as empty for the class that had it, until a
 * class takes it or a trim returns it to the OS. Thread-safe; the space's lock is taken inside a class's lock, never
 * the other way round.
 */
#ifndef LIBQA_SPACE_H
#define LIBQA_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "page.h"

void space_init(uint32_t page_size_bytes);
uint32_t space_page_size_bytes(void);

/* A page for that class: base and size_class set, no block out, all fresh. NULL and ENOMEM. */
struct page *space_take(unsigned size_class);

/* Takes a page back that has no block out and is in no page_heap. */
void space_put(struct page *page);

/* Units of page_size in empty pages that were last of that class. Any thread, no lock. */
uint64_t space_empty_pages(unsigned size_class);

/*
 * Returns all waiting empty pages to the OS, neighbours in one call, outside the lock. Pages that the kernel does not
 * take (locked memory) stay as they were. One caller at a time (trim.c). Returns the bytes that went back.
 */
uint64_t space_return_empty(void);

/* Around fork, see fork.c. */
void space_lock(void);
void space_unlock(void);

#endif
