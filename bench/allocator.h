/* The allocators that qa-bench compares, and which of them are here. */
#ifndef BENCH_ALLOCATOR_H
#define BENCH_ALLOCATOR_H

#include "workload.h"

#include <stdbool.h>

#define ALLOCATORS_MAX 24
#define ALLOCATOR_LIBRARIES 3

enum allocator_kind {
	KIND_LIBQA,
	KIND_PEER,       /* malloc and free, or a pool of its own */
	KIND_SIZED_PEER, /* operator new and sized delete: compared with libqa-sized only */
	KIND_FLOOR,      /* of the ratio to the floor */
	KIND_OTHER,      /* libqa of another build, shown beside the rest */
};

struct allocator {
	const char *name;
	enum allocator_kind kind;
	unsigned groups;                            /* bit 1 << enum workload_group: what it can do */
	const char *program;                        /* that measures it: beside qa-bench, or with its folder */
	const char *libraries[ALLOCATOR_LIBRARIES]; /* to preload: the first that is there; none: NULL */
	const char *expect;  /* part of the name of the library that malloc must be of, or NULL */
	const char *library; /* found by allocator_probe; NULL: none is preloaded */
	char missing[256];   /* "" or why it is left out */
};

extern struct allocator allocators[ALLOCATORS_MAX];
extern size_t allocator_count;

struct allocator *allocator_find(const char *name);
bool allocator_can(const struct allocator *allocator, const struct workload *workload);
bool allocator_is_sized(const struct allocator *allocator);
/* Adds a peer from "name=library"; the text must stay. False: not of this form, no room, or the name is taken. */
bool allocator_add_peer(char *text);
/* Adds libqa and libqa-sized of another build: folder has its bench-libqa and bench-libqa-sized. False: no memory. */
bool allocator_add_build(const char *folder);
/* What allocator_add_build added for this one of libqa's; NULL: nothing. */
struct allocator *allocator_other_build(const struct allocator *allocator);
/* Tries the allocator out, and sets missing when it does not work here. */
void allocator_probe(struct allocator *allocator);

#endif
