/*
 * target.h - the parts of the program that the end-to-end tests command; what the commands are is told in target.c.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks: groups of equal blocks, each filled with a pattern of its own that is checked when it is freed. */
enum { GROUPS = 64 };

/* Adds count blocks to a group; align 0: with qa_malloc. 0 or a negative errno; the blocks made before stay. */
int blocks_add(unsigned group, size_t count, size_t size, size_t align);
/* Frees all blocks but each keep_every-th (0: none is kept). Returns how many were not as they were written. */
size_t blocks_remove(unsigned group, size_t keep_every);
size_t blocks_check(unsigned group);
size_t blocks_count(unsigned group);
/* The sum of qa_usable_size over a group. */
size_t blocks_usable_bytes(unsigned group);

/* Load: threads that take, pass on, check and free blocks at full speed. */
struct load_result {
	uint64_t checked, bad, failed; /* blocks checked, of these wrong; allocations that gave NULL */
	uint64_t children_bad;         /* forked children that did not end with 0 */
};

/* Runs threads with so many operations each, and forks children one by one meanwhile. Returns when all ended. */
struct load_result load_run(unsigned threads, uint64_t operations, unsigned children);

/* Starts the program anew where membarrier is refused. Returns only on failure, with a negative errno. */
int sandbox_enter(char *program);
/* From now on this is another user's process, on a kernel without descriptors for threads. 0 or a negative errno. */
int sandbox_become(unsigned uid);

/* Frees at unusual times. */
/* A thread takes blocks and frees them in the last round of its thread-specific destructors. 0 or a negative errno. */
int late_run_thread(size_t count, size_t size);
/* From now on exit frees count blocks in atexit and count in a destructor, and prints what is still used then. */
int late_arm_exit(size_t count, size_t size);

#endif
