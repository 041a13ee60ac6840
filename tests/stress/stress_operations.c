/*
 * Random sequences of operations against the model, under several settings. A sequence follows from its seed, which is
 * said when it fails.
 */
#include "operations.h"
#include "stress.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { STEPS = 1000, SEEDS = TIMES(20, 2) };

static uint64_t seed;

/* In a signal handler: no stdio. */
static void say_seed(int signal)
{
	char text[] = "operations: seed                    0\n";
	char *digit = text + sizeof text - 3;
	for (uint64_t rest = seed; rest > 0; rest /= 10)
		*digit-- = (char)('0' + rest % 10);
	ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
	(void)written;
	(void)signal;
}

static void run_seed(void)
{
	static uint8_t bytes[STEPS * OPERATION_BYTES];
	uint64_t random = seed * 2654435761u + 1;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(stress_random(&random) >> 7);
	operations_run(bytes, sizeof bytes, true);
}

static void run_seeds(void)
{
	signal(SIGABRT, say_seed); /* then abort ends the program */
	for (seed = 1; seed <= SEEDS; seed++)
		run_seed();
}

static const struct stress_case cases[] = {
	{"as it comes", run_seeds, NULL, NULL},
	{"small pages", run_seeds, NULL, "QA_PAGE_SIZE=4KiB"},
	{"large pages", run_seeds, NULL, "QA_PAGE_SIZE=1MiB"},
	{"small caches", run_seeds, NULL, "QA_THREAD_CACHE=16K"},
	{"no caches", run_seeds, NULL, "QA_THREAD_CACHE=0"},
	{"all checks", run_seeds, NULL, "QA_CHECK=1"},
};

int main(int argc, char **argv)
{
	return stress_main(argc, argv, cases, COUNT(cases));
}
