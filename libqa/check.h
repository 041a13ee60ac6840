/*
 * check.h - QA_CHECK=1: every block is guarded, at a price; also what makes ASan and Valgrind understand the pool.
 *
 *     | block: usable bytes                | guard (as long as the block's alignment, 8 to 4,096 bytes) |
 *       free:  all 0xdb, for a while in quarantine   free: 0xdd    allocated: 0xca
 *
 * A free finds a guard that is not whole (overrun), or one of a free block (freed twice); a block that leaves
 * quarantine finds what was written to it meanwhile. Cost: one guard a block, no thread caches, the block's length
 * written at each free, and up to 16 MiB in quarantine.
 */
#ifndef LIBQA_CHECK_H
#define LIBQA_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* Written once, by check_init, before any allocation. */
extern bool check_is_on;

/* On when the setting says so, or says nothing and the program runs under ASan or Valgrind. */
void check_init(void);

/* In place of the caches when checks are on. */
void *check_alloc(unsigned size_class);
void check_free(void *block, unsigned size_class);

/* Blocks in quarantine. Any thread, no lock. */
uint64_t check_quarantined(unsigned size_class);

/* All of quarantine goes to its pages. */
void check_flush(void);

/* Around fork, see fork.c. */
void check_lock(void);
void check_unlock(void);

#endif
