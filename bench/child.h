/*
 * A measured process: what a workload is told, what it gives back, and the tools all of them use. None of these tools
 * allocates from the allocator under test.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include "workload.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct run {
	const struct workload *workload;
	double work_ms;     /* about how long to work */
	uint64_t ops;       /* not 0: do about as many operations instead, whatever they take */
	unsigned cpu_count; /* that this process may use */
};

struct outcome {
	double ns_per_op;
	uint64_t ops;
	uint64_t base_rss_bytes;  /* before the first allocation, with the workload's own arrays */
	uint64_t after_rss_bytes; /* at the end; after the trim where there is one */
	uint64_t live_page_bytes; /* shrink: the OS pages that hold a byte of a live block */
	double trim_ms;           /* shrink: what the trim took */
};

typedef void work_function(const struct run *run, struct outcome *outcome);

/* By group; NULL where the allocator of this process cannot do it. Each measured program has its own. */
extern work_function *const child_work[GROUP_COUNT];

uint64_t child_now_ns(void);
uint64_t child_rss_bytes(void);
/* Zeroed and resident memory from the OS; never given back. */
void *child_map(uint64_t bytes);
void child_fail(const char *what) __attribute__((noreturn, cold));
void child_pin(unsigned cpu);

/* Ends the process with a message when condition is false. */
static inline void child_check(bool condition, const char *what)
{
	if (!condition)
		child_fail(what);
}

static inline uint64_t child_random(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

/*
 * Calls chunk again and again, each time chunk_ops operations, once unmeasured; ns_per_op is the median of the calls,
 * so that a call in which the machine did something else does not count.
 */
void child_repeat(const struct run *run, struct outcome *outcome, uint64_t chunk_ops, void (*chunk)(void *context),
		  void *context);

/* The block is there, as far as the compiler knows, and its first word has been written. */
static inline __attribute__((always_inline)) void child_use(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	*(volatile uint64_t *)block = 1;
}

/* The value, of which the compiler no longer knows anything. */
static inline __attribute__((always_inline)) size_t child_hide(size_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

#ifdef __cplusplus
}
#endif
#endif
