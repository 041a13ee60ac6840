/*
 * Counts of durations by nanoseconds: exact below 128, above that 64 steps a doubling, so that a quantile is at most
 * 1.6 % too high. One thread writes; nobody reads meanwhile.
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_STEPS 64
#define HISTOGRAM_BUCKETS (HISTOGRAM_STEPS * 60)

struct histogram {
	uint64_t count, max_ns;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* Step s of the doubling of bit e covers [(64 + s) << (e - 6), (64 + s + 1) << (e - 6)). */
static inline size_t histogram_bucket_of(uint64_t ns)
{
	if (ns < 2 * HISTOGRAM_STEPS)
		return ns;
	unsigned bit = 63u - (unsigned)__builtin_clzll(ns);
	return (size_t)(bit - 6) * HISTOGRAM_STEPS + (ns >> (bit - 6));
}

static inline void histogram_add(struct histogram *histogram, uint64_t ns)
{
	size_t bucket = histogram_bucket_of(ns);
	histogram->buckets[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
	histogram->count++;
	if (ns > histogram->max_ns)
		histogram->max_ns = ns;
}

/* The duration that the part share (0 to 1) of all is not above; 0 when there is none. */
uint64_t histogram_quantile_ns(const struct histogram *histogram, double share);

#endif
