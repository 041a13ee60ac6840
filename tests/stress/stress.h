/*
 * stress.h - what the stress tests share: bodies that run in a child process, and figures checked without cmocka.
 *
 * A child must not fail by cmocka's assertions, which would jump back into a copy of the test runner: here a check that
 * fails says both operands and aborts. So these checks may be used anywhere, and from any thread.
 *
 * Each child, and each test program, has an alarm: who hangs dies by SIGALRM, and the test fails.
 */
#ifndef STRESS_H
#define STRESS_H

#include "test.h"

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include "qa.h"
#include "sanitizer.h"

/* Both operands are counts or bytes. */
#define expect_equal(a, b) stress_expect((uint64_t)(a), "==", (uint64_t)(b), #a " == " #b, __FILE__, __LINE__)
#define expect_at_most(a, b) stress_expect((uint64_t)(a), "<=", (uint64_t)(b), #a " <= " #b, __FILE__, __LINE__)
#define expect_true(a) expect_equal(!!(a), 1)

void stress_expect(uint64_t a, const char *relation, uint64_t b, const char *text, const char *file, int line);

/* A test program's main: kills itself after that many seconds (more with a sanitizer). */
void stress_watch(unsigned seconds);

/* Forks. The child runs body and ends with 0, or by an alarm; the parent waits and wants 0. */
void stress_in_child(void (*body)(void));

/*
 * The same in a fresh program: this one is executed anew, with one environment variable set ("NAME=value" or NULL) and
 * prepare called before the exec (or NULL), so that libqa starts under these conditions.
 */
struct stress_case {
	const char *name;
	void (*body)(void);
	void (*prepare)(void);
	const char *environment;
};

void stress_in_program(const struct stress_case *what);

/* In main, first: runs the case when this program was executed for one, and does not return then. */
void stress_run_case(int argc, char **argv, const struct stress_case *cases, size_t count);

/* A main for which each case is a test of its own, in 170 seconds all together. */
int stress_main(int argc, char **argv, const struct stress_case *cases, size_t count);

/* Waits for a child; its exit code, or 128 and the signal. */
int stress_wait(pid_t pid);

/* Reads the statistics; every row and the total must add up. Returns the total. */
struct qa_stats stress_figures(void);

/* The row of a block size, or (by name) of a pool; all of it adds up. */
struct qa_class_stats stress_row(uint64_t block_size);
struct qa_class_stats stress_pool_row(const char *name);

/* Heaps that were ever made. */
unsigned stress_heaps(void);

/* Lines of a file, entries of a folder. */
unsigned stress_count_lines(const char *path);
unsigned stress_count_entries(const char *path);

/* Fills a block by its address, and checks it. */
void stress_fill(void *block, size_t size, unsigned seed);
void stress_check(const void *block, size_t size, unsigned seed);

static inline unsigned stress_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*state >> 33);
}

#endif
