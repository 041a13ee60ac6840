/*
 * transfer.h - whole batches of free blocks on their way between threads.
 *
 * A class has a few slots. A thread whose cache is full leaves a batch in one, a thread whose cache is empty takes one:
 * each a single atomic exchange, whatever the batch's length, and no lock. A slot holds a chain's address and length in
 * one word,
 *
 *     | count (16 bits) | address of the first block (48 bits) |      0: vacant
 *
 * and is only ever filled when vacant and emptied as a whole, so there is no ABA. Thread-safe.
 */
#ifndef LIBQA_TRANSFER_H
#define LIBQA_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

/* Leaves a chain of count blocks (1 to 65,535). False: no slot is vacant, the chain is still the caller's. */
bool transfer_put(unsigned size_class, void *chain, uint32_t count);

/* A chain and its count, or NULL. */
void *transfer_take(unsigned size_class, uint32_t *count);

/* In a forked child whose parent's threads may have been at the slots: their chains are lost. */
void transfer_forget(void);

/* Blocks in the slots now. */
uint64_t transfer_blocks(unsigned size_class);

#endif
