/*
 * os.h - the system boundary: memory from the kernel, and the barrier that makes the biased lock work.
 *
 * All sizes and addresses are multiples of os_page_bytes unless said otherwise. Thread-safe. errno is kept where a
 * function can not fail to its caller.
 */
#ifndef LIBQA_OS_H
#define LIBQA_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's page size; fetched once. 4 KiB on x86-64, up to 64 KiB on arm64. */
size_t os_page_bytes(void);

/* Fresh zeroed memory, private, readable and writable; NULL and ENOMEM. align is a power of two. */
void *os_map(size_t size_bytes, size_t align_bytes);

/*
 * Gives the addresses back. When the kernel can not (a mapping would have to be split and there are too many), at least
 * the memory goes back and the addresses stay ours, unused: false then.
 */
bool os_unmap(void *address, size_t size_bytes);

/* Gives the memory back and keeps the addresses. False when the kernel refused (locked memory): nothing changed. */
bool os_return(void *address, size_t size_bytes);

/* Makes a mapping longer or shorter where it is. False: not possible, nothing changed. */
bool os_resize(void *address, size_t old_bytes, size_t new_bytes);

/*
 * Moves a mapping's memory, without copying, onto a target of os_map, which it replaces; new bytes read as zero. False:
 * not possible; the old mapping is untouched, the target must not be used or unmapped: the kernel may have unmapped it
 * and another thread mapped there.
 */
bool os_move(void *address, size_t old_bytes, void *target, size_t new_bytes);

/* Registers this process for os_barrier; again in a forked child. */
void os_barrier_init(void);

/* Whether os_barrier works: false where the kernel has or allows no membarrier(2). */
bool os_has_barrier(void);

/*
 * A full memory barrier on every thread of this process (membarrier PRIVATE_EXPEDITED): what another thread stored
 * before it is visible after. False when the kernel refuses; os_has_barrier is false from then on.
 */
bool os_barrier(void);

/* Microseconds of the monotonic clock. */
uint64_t os_clock_us(void);

#endif
