/*
 * The allocator under test, inline, so that it is called as a program would call it. The build says which:
 * BENCH_ADAPTER is the name of one of the adapter_*.h. Each gives
 *
 *   ADAPTER_ALLOC(size), ADAPTER_FREE(block, size)   size is a constant
 *   adapter_alloc(size), adapter_free(block, size)   size is known at run time only
 *   adapter_realloc(block, old_size, size)
 *   adapter_usable_bytes(block)
 *   adapter_trim()                                   all that the allocator offers to give memory back
 *
 * or, for fixed sizes only, the first two.
 */
#ifndef BENCH_ADAPTER_H
#define BENCH_ADAPTER_H

#include <stddef.h>

#include BENCH_ADAPTER

#endif
