/*
 * The tools of measured programs. Resident memory is read from smaps_rollup, which walks the page tables: the counters
 * in statm are off by up to 64 pages a processor on many kernels.
 */
#include "child.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLICES_MAX 4096
#define SLICES_MIN 5

void child_fail(const char *what)
{
	dprintf(STDERR_FILENO, "bench: %s\n", what);
	_exit(1);
}

uint64_t child_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t child_rss_bytes(void)
{
	char text[4096];
	int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	child_check(file >= 0, "cannot open /proc/self/smaps_rollup");
	ssize_t length = read(file, text, sizeof text - 1);
	close(file);
	child_check(length > 0, "cannot read /proc/self/smaps_rollup");
	text[length] = '\0';
	const char *line = strstr(text, "\nRss:");
	child_check(line != NULL, "no Rss in /proc/self/smaps_rollup");
	return strtoull(line + 5, NULL, 10) << 10;
}

void *child_map(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	child_check(memory != MAP_FAILED, "no memory for the workload's own arrays");
	return memory;
}

void child_pin(unsigned cpu)
{
	/* The cpu-th of those this process may use. Not pinned when that fails: it is only noisier. */
	cpu_set_t allowed, one;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &allowed) && cpu-- == 0) {
			CPU_SET(i, &one);
			sched_setaffinity(0, sizeof one, &one);
			return;
		}
	}
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

void child_repeat(const struct run *run, struct outcome *outcome, uint64_t chunk_ops, void (*chunk)(void *context),
		  void *context)
{
	static double slices[SLICES_MAX];
	size_t count = 0;
	uint64_t wanted = run->ops ? (run->ops + chunk_ops - 1) / chunk_ops : SLICES_MAX;
	if (wanted > SLICES_MAX)
		wanted = SLICES_MAX;
	chunk(context);
	uint64_t start = child_now_ns(), last = start;
	while (count < wanted) {
		chunk(context);
		uint64_t now = child_now_ns();
		slices[count++] = (double)(now - last) / (double)chunk_ops;
		last = now;
		if (!run->ops && count >= SLICES_MIN && (double)(now - start) >= run->work_ms * 1e6)
			break;
	}
	qsort(slices, count, sizeof slices[0], compare_doubles);
	outcome->ops = count * chunk_ops;
	outcome->ns_per_op = slices[count / 2];
}
