/*
 * bits.h - runs in an array of bits: the free blocks of a page, the clean units of a chunk.
 *
 * Bit i is bit i % 64 of word i / 64; a run goes from first to end, exclusive. No atomics: whoever has the array calls.
 */
#ifndef LIBQA_BITS_H
#define LIBQA_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool bits_get(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* The bits of one word that belong to the run; the word begins before the run's end. */
static inline uint64_t bits_mask(uint32_t word, uint32_t first, uint32_t end)
{
	uint32_t low = word * 64;
	uint64_t mask = ~(uint64_t)0;
	if (first > low)
		mask &= ~(uint64_t)0 << (first - low);
	if (end < low + 64)
		mask &= ~(uint64_t)0 >> (low + 64 - end);
	return mask;
}

/* True also for a run of none. */
static inline bool bits_are_set(const uint64_t *bits, uint32_t first, uint32_t end)
{
	for (uint32_t word = first / 64; word * 64 < end; word++)
		if ((~bits[word] & bits_mask(word, first, end)) != 0)
			return false;
	return true;
}

static inline void bits_change(uint64_t *bits, uint32_t first, uint32_t end, bool value)
{
	for (uint32_t word = first / 64; word * 64 < end; word++) {
		uint64_t mask = bits_mask(word, first, end);
		bits[word] = value ? bits[word] | mask : bits[word] & ~mask;
	}
}

#endif
