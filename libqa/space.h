/*
 * space.h - the address space that pages come from, and the empty pages that wait.
 *
 * A page without a block out is put here. It stays in memory, and counts as empty for the class that had it, until a
 * class takes it or a trim returns it to the OS. Thread-safe; the space's lock is taken inside a class's lock, never
 * the other way round.
 */
#ifndef LIBQA_SPACE_H
#define LIBQA_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page.h"
#include "returns.h"

/* A chunk has this many bytes, or one unit of page_size if that is more; and so many words for a bit per unit. */
enum { SPACE_CHUNK_BYTES = 2 << 20, SPACE_UNIT_BYTES_MIN = 4 << 10 };
enum { SPACE_CHUNK_WORDS = SPACE_CHUNK_BYTES / SPACE_UNIT_BYTES_MIN / 64 };

void space_init(uint32_t page_size_bytes);
uint32_t space_page_size_bytes(void);

/* A page for that class: base and size_class set, no block out; its bits are the caller's to set. NULL and ENOMEM. */
struct page *space_take(unsigned size_class);

/* Takes a page back that has no block out and is in no page_heap. */
void space_put(struct page *page);

/* What waits in empty pages that were last of a class: in units of page_size, and the bytes held. */
struct space_empty {
	uint64_t pages, bytes;
};

/* Any thread, no lock. */
struct space_empty space_read_empty(unsigned size_class);

/*
 * Whether a class ever had a page; if not, all its counts are 0. Most classes of most programs: who wants the figures
 * of all of them is spared the cache misses. Any thread, no lock.
 */
bool space_was_used(unsigned size_class);

/* Empty pages of one class count as those of another from now on: the first is no more. */
void space_reassign_empty(unsigned from, unsigned to);

/*
 * Walks over all units of page_size that are mapped: true, and a unit's address, until there are no more. Takes the
 * space's lock for each step. Only trim may walk, since only it unmaps.
 */
struct space_cursor {
	struct chunk *chunk;
	uint32_t unit;
	bool is_started;
};

bool space_next_unit(struct space_cursor *cursor, char **unit);

/*
 * Returns waiting empty pages to the OS, neighbours in one call, outside the lock: those that were last of that class
 * (0: of any), and of these no more than most_bytes. Pages that the kernel does not take (locked memory) stay as they
 * were. With trim's lock held. Returns the bytes that went back.
 */
uint64_t space_return_empty(unsigned size_class, uint64_t most_bytes);

/*
 * The same in pieces. First all are collected, in their chunks, which are taken one after the other: NULL, there are no
 * more. A chunk goes as a whole if nothing else is in it (the bytes are added); or else its waiting pages are added to
 * what a trim returns of it, and settled after returns_run, which tells the bytes that went back. Between two chunks
 * trim's lock may change hands: what is collected is anybody's to return.
 */
void space_collect_empty(unsigned size_class, uint64_t most_bytes);
struct chunk *space_return_take(void);
bool space_return_whole(struct chunk *chunk, uint64_t *returned_bytes);
void space_return_add(const struct chunk *chunk, struct returns *returns);
uint64_t space_return_settle(struct chunk *chunk, const struct returns *returns);

/* The next mapped chunk after that one (NULL: the first), or NULL; and its base and units. Only trim may ask. */
struct chunk *space_next_chunk(const struct chunk *chunk);
char *space_chunk_base(const struct chunk *chunk);
uint32_t space_chunk_units(void);

/* Around fork, see fork.c. */
void space_lock(void);
void space_unlock(void);

#endif
