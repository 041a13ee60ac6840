/*
 * model.h - what libqa must have given to whom: a table of the blocks that are live, what is written in them, and the
 * pools. A violation aborts the program, with a message. One thread at a time.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qa.h"

enum { MODEL_BLOCKS = 4096, MODEL_POOLS = 4, MODEL_OS_PAGE = 4096 };
/* By which function a block came, so by which it may go. */
enum family { MALLOC, RESIZED, SIZED, POOL };

struct model_block {
	unsigned char *block;
	size_t size, align;
	uint64_t class_bytes; /* the row it counts in: its usable size; 0 in the row of large blocks; not of a pool */
	uint64_t usable, extent; /* with the guard that checks and tools put behind it */
	enum family family;
	unsigned pool;
	unsigned char fill;
};

extern struct model {
	struct model_block live[MODEL_BLOCKS];
	size_t count;
	struct qa_pool *pools[MODEL_POOLS]; /* NULL: there is none */
	size_t pool_bytes[MODEL_POOLS];     /* of its blocks */
} model;

void model_pool_name(unsigned pool, char name[32]);
bool model_has_pool_blocks(unsigned pool);

/* A new block joins the table, and is filled. There must be room. */
void model_add(void *block, size_t size, size_t align, enum family family, unsigned pool);
void model_remove(size_t i);
/* Removes and frees it: as generally, or as specially, as its family allows. */
void model_free(size_t i, bool is_special);
void model_content_check(const struct model_block *block);

/* No two overlap. Returns the bytes of OS pages that have a byte of a live block, and large blocks as a whole. */
uint64_t model_sort_and_measure(void);
/* libqa's figures of what is used are those of the table: for when it is quiet. */
void model_check_used(void);
/* All of that, and what is written in the blocks. */
void model_check(void);
/* Frees all blocks and pools; then nothing must be held. */
void model_free_all(void);

#endif
