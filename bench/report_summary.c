/*
 * One line per workload: the medians of libqa and of the mallocs, then what libqa's are of the fastest peer's, which
 * may also be one without a column. A star stands where a figure is above what is to be reached.
 */
#include "report.h"

#include <stdio.h>

#define MIB 1048576.0
#define FLOOR_REACH 2.0

static const char *const columns[] = {"libqa",    "libqa-sized", "libqa-malloc", "glibc",
				      "jemalloc", "tcmalloc",    "mimalloc"};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static const struct cell *cell_of(const struct results *results, const struct workload *workload, const char *name)
{
	const struct allocator *allocator = allocator_find(name);
	for (size_t i = 0; i < results->count; i++) {
		const struct cell *cell = &results->cells[i];
		if (cell->workload == workload && cell->allocator == allocator && cell->count > 0)
			return cell;
	}
	return NULL;
}

static void print_ratio(const struct cell *cell, const struct cell *other, double reach)
{
	if (!cell || !other) {
		printf(" %6s ", "-");
		return;
	}
	double ratio = results_spread(cell, FIGURE_NS).median / results_spread(other, FIGURE_NS).median;
	printf(" %6.2f%c", ratio, reach > 0 && ratio > reach ? '*' : ' ');
}

static void print_workload(const struct results *results, const struct workload *workload)
{
	const struct cell *libqa = cell_of(results, workload, "libqa"),
			  *sized = cell_of(results, workload, "libqa-sized"),
			  *drop_in = cell_of(results, workload, "libqa-malloc");
	const struct cell *peer = libqa ? results_best_peer(results, libqa, FIGURE_NS) : NULL;
	const struct cell *drop_in_peer = drop_in ? results_best_peer(results, drop_in, FIGURE_NS) : NULL;
	const struct cell *sized_peer = sized ? results_best_peer(results, sized, FIGURE_NS) : NULL;
	bool is_pair = workload->group == GROUP_PAIR;
	printf("%-18s", workload->name);
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		const struct cell *cell = cell_of(results, workload, columns[i]);
		if (cell)
			printf(" %12.2f", results_spread(cell, FIGURE_NS).median);
		else
			printf(" %12s", "-");
	}
	print_ratio(libqa, peer, workload->reach);
	print_ratio(drop_in, drop_in_peer, workload->reach);
	print_ratio(sized, sized_peer, workload->reach_sized);
	print_ratio(sized, sized && is_pair ? results_floor(results, sized) : NULL, FLOOR_REACH);
	printf(" %s\n", sized_peer ? sized_peer->allocator->name : peer ? peer->allocator->name : "");
}

static void print_shrunk(const struct results *results, const struct workload *workload)
{
	printf("%-18s", workload->name);
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		const struct cell *cell = cell_of(results, workload, columns[i]);
		char text[32] = "-";
		if (cell)
			snprintf(text, sizeof text, "%.1f/%.1f%s", results_shrunk_bytes(cell) / MIB,
				 results_bound_bytes(cell) / MIB,
				 results_shrunk_bytes(cell) > results_bound_bytes(cell) ? "*" : "");
		printf(" %12s", text);
	}
	putchar('\n');
}

static void print_peaks(const struct results *results)
{
	printf("%-18s", "all mixed");
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		const struct allocator *allocator = allocator_find(columns[i]);
		double bytes = results_mixed_peak_bytes(results, allocator);
		if (bytes > 0)
			printf(" %12.1f", bytes / MIB);
		else
			printf(" %12s", "-");
	}
	putchar('\n');
}

static void print_head(const char *what)
{
	printf("%-18s", what);
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		printf(" %12s", columns[i]);
}

static bool is_measured(const struct results *results, const struct workload *workload)
{
	for (size_t i = 0; i < results->count; i++) {
		if (results->cells[i].workload == workload && results->cells[i].count > 0)
			return true;
	}
	return false;
}

void report_summary(const struct results *results)
{
	print_head("ns/op");
	printf(" %6s  %7s %6s  %6s  %s\n", "libqa/", "malloc/", "sized/", "sized/", "fastest (of sized)");
	printf("%*s %6s  %6s  %6s  %6s\n", (int)(18 + 13 * COLUMN_COUNT), "", "peer", "peer", "peer", "floor");
	for (size_t i = 0; i < workload_count; i++) {
		if (is_measured(results, &workloads[i]))
			print_workload(results, &workloads[i]);
	}
	putchar('\n');
	print_head("after trim/bound");
	putchar('\n');
	for (size_t i = 0; i < workload_count; i++) {
		if (workloads[i].group == GROUP_SHRINK && is_measured(results, &workloads[i]))
			print_shrunk(results, &workloads[i]);
	}
	putchar('\n');
	print_head("peak MiB");
	putchar('\n');
	print_peaks(results);
}
