/*
 * The main of every measured program: one workload, once, in a fresh process; the outcome is one line of JSON on
 * stdout. qa-bench starts it; by hand: bench-libqa --workload pair-32.
 */
#include "child.h"

#include <dlfcn.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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
