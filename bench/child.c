/*
 * The main of every measured program: one workload, once, in a fresh process; the outcome is one line of JSON on
 * stdout. qa-bench starts it; by hand: bench-libqa --workload pair-32. Resident memory is read from smaps_rollup,
 * which walks the page tables: the counters in statm are off by up to 64 pages a processor on many kernels.
 */
#include "child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SLICES_MAX 4096
#define SLICES_MIN 5

void child_check(bool condition, const char *what)
{
	if (condition)
		return;
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

/* Whether malloc is the library's that was to be preloaded: ld.so only warns when it does not find one. */
static void check_malloc(const char *library)
{
	Dl_info info;
	void *malloc_here = dlsym(RTLD_DEFAULT, "malloc");
	child_check(malloc_here && dladdr(malloc_here, &info) && info.dli_fname, "no malloc");
	if (!strstr(info.dli_fname, library)) {
		dprintf(STDERR_FILENO, "bench: malloc is that of %s, not of %s\n", info.dli_fname, library);
		_exit(3);
	}
}

static unsigned usable_cpus(void)
{
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return 1;
	return (unsigned)CPU_COUNT(&allowed);
}

static uint64_t peak_rss_bytes(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss << 10;
}

static void measure(const struct run *run)
{
	struct outcome outcome = {0, 0, child_rss_bytes(), 0, 0, 0};
	work_function *work = child_work[run->workload->group];
	child_check(work != NULL, "this allocator cannot do this workload");
	work(run, &outcome);
	if (outcome.after_rss_bytes == 0)
		outcome.after_rss_bytes = child_rss_bytes();
	uint64_t peak = peak_rss_bytes();
	if (peak < outcome.after_rss_bytes)
		peak = outcome.after_rss_bytes;
	printf("{\"ns_per_op\": %.4f, \"ops\": %llu, \"base_rss_bytes\": %llu, \"peak_rss_bytes\": %llu, "
	       "\"after_rss_bytes\": %llu, \"live_page_bytes\": %llu, \"trim_ms\": %.3f}\n",
	       outcome.ns_per_op, (unsigned long long)outcome.ops, (unsigned long long)outcome.base_rss_bytes,
	       (unsigned long long)peak, (unsigned long long)outcome.after_rss_bytes,
	       (unsigned long long)outcome.live_page_bytes, outcome.trim_ms);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"workload", required_argument, NULL, 'w'},
						{"work-ms", required_argument, NULL, 'm'},
						{"ops", required_argument, NULL, 'n'},
						{"expect", required_argument, NULL, 'e'},
						{NULL, 0, NULL, 0}};
	struct run run = {NULL, 50, 0, usable_cpus()};
	int letter;
	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (letter == 'w')
			run.workload = workload_find(optarg);
		else if (letter == 'm')
			run.work_ms = strtod(optarg, NULL);
		else if (letter == 'n')
			run.ops = strtoull(optarg, NULL, 10);
		else if (letter == 'e')
			check_malloc(optarg);
		else
			return 64;
	}
	if (!run.workload) {
		dprintf(STDERR_FILENO, "usage: %s --workload NAME [--work-ms MS | --ops N] [--expect LIBRARY]\n",
			argv[0]);
		return 64;
	}
	measure(&run);
	return 0;
}
