/*
 * space_chunk.h - the space from inside: chunks and the lists of pages that wait, for space.c, which takes from them,
 * and space_return.c, which gives back to the OS. All but the constants with the space's lock held.
 */
#ifndef LIBQA_SPACE_CHUNK_H
#define LIBQA_SPACE_CHUNK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page.h"
#include "qa.h"
#include "space.h"

enum { SPANS = 8 };

struct chunk {
	char *base;
	struct chunk *next, *prev; /* chunks that have a clean unit */
	struct chunk *next_return; /* in the space's list of that name */
	struct chunk *next_all;    /* constant */
	uint32_t clean_units;
	uint32_t grains;   /* a bit for each grain that a page had since the chunk was mapped */
	bool is_returning; /* likewise */
	uint64_t clean[SPACE_CHUNK_WORDS];
	uint64_t returning[SPACE_CHUNK_WORDS]; /* a trim works on them: not clean yet, not waiting any more */
};

struct space {
	pthread_mutex_t lock;
	uint32_t page_size_bytes;
	size_t chunk_bytes;
	uint32_t chunk_units;
	struct chunk *with_clean;
	struct chunk *spare_chunks;               /* descriptors of unmapped chunks, by next */
	struct page *empty[SPANS];                /* by log2 of the length in units, linked by next */
	struct chunk *returning;                  /* that have a bit in returning, by next_return */
	struct chunk *all;                        /* every descriptor ever made, by next_all */
	_Atomic uint64_t empty_bytes[QA_CACHES_]; /* that wait, without their holes; written under the lock */
	_Atomic uint64_t empty_pages[QA_CACHES_]; /* likewise, in units */
	_Atomic bool was_used[QA_CACHES_];        /* never false again */
};

extern struct space space;

/* A chunk leaves the list of those that have a clean unit. */
void space_chunk_unlink(struct chunk *chunk);

/* Units of a chunk are clean from now on. */
void space_chunk_add_clean(struct chunk *chunk, unsigned first, unsigned count);

/* A chunk's addresses are gone; its descriptor serves the next one. */
void space_chunk_retire(struct chunk *chunk);

/* Bytes of a page that are held: without its holes. */
uint64_t space_held_bytes(const struct page *page);

/* A page joins those that wait, or leaves them: the counts; and the list, which it joins. */
void space_count_waiting(const struct page *page, bool joins);
void space_link_waiting(struct page *page);

#endif
