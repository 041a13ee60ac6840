/*
 * map.h - how full the pages of a target are: the answer to the protocol's map.
 */
#ifndef QACTL_MAP_H
#define QACTL_MAP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read.h"
#include "target.h"
#include "terminal.h"

enum { MAP_TENTHS = 10 };

struct map_class {
	uint64_t block_size;
	char name[QP_NAME_BYTES + 1]; /* of a pool, else "" */
	uint64_t pages, empty_pages;  /* with a block out; without one */
	/* Of those with a block out, by how full they are: [0] up to 10 %. */
	uint64_t tenth_pages[MAP_TENTHS], tenth_out_bytes[MAP_TENTHS], tenth_free_bytes[MAP_TENTHS];
	const char *const *shades; /* for the table: what to draw with */
};

struct map {
	struct target target;
	uint64_t page_size;
	struct map_class *classes; /* by size */
	size_t count;
};

/* Reads a result, of it only classes of block_size if that is not 0. The caller finishes it even after an error. */
int map_read(struct map *map, const msgpack_object *object, uint64_t block_size);
void map_finish(struct map *map);

json_t *map_to_json(const struct map *map);

/* A row for each class, a bar for each tenth, and what that means in sentences. */
void map_print(FILE *out, struct map *map, const struct terminal *terminal);

#endif
