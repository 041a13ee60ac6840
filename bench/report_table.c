/*
 * A row per workload and allocator. For libqa's rows: the ratio to the fastest peer, of the medians and of the lowest,
 * and the word "missed" where the ratio of the medians is above what is to be reached.
 */
#include "report.h"

#include <stdio.h>

#define MIB 1048576.0
#define FLOOR_REACH 2.0

static double ratio(const struct cell *cell, const struct cell *other, bool is_of_lowest)
{
	struct spread a = results_spread(cell, FIGURE_NS), b = results_spread(other, FIGURE_NS);
	return is_of_lowest ? a.min / b.min : a.median / b.median;
}

static const char *verdict(double value, double reach)
{
	if (reach == 0)
		return "";
	return value <= reach ? "  reached" : "  missed";
}

static void print_ratios(const struct results *results, const struct cell *cell)
{
	const struct cell *peer = results_best_peer(results, cell, FIGURE_NS), *floor = results_floor(results, cell);
	double reach = allocator_is_sized(cell->allocator) ? cell->workload->reach_sized : cell->workload->reach;
	const struct cell *other = results_other_build(results, cell);
	if (cell->allocator->kind != KIND_LIBQA)
		return;
	if (peer) {
		printf("  %5.2f %5.2f x %s", ratio(cell, peer, false), ratio(cell, peer, true), peer->allocator->name);
		if (reach > 0)
			printf(" (%.1f)%s", reach, verdict(ratio(cell, peer, false), reach));
	}
	if (floor && allocator_is_sized(cell->allocator) && cell->workload->group == GROUP_PAIR)
		printf(";  %.2f %.2f x floor (%.1f)%s", ratio(cell, floor, false), ratio(cell, floor, true),
		       FLOOR_REACH, verdict(ratio(cell, floor, false), FLOOR_REACH));
	if (other)
		printf(";  %.3f %.3f x other", ratio(cell, other, false), ratio(cell, other, true));
}

static void print_shrunk(const struct cell *cell)
{
	double shrunk = results_shrunk_bytes(cell), bound = results_bound_bytes(cell);
	printf("  +%.1f of %.1f MiB", shrunk / MIB, bound / MIB);
	printf("%s, trim %.1f ms", cell->allocator->kind == KIND_LIBQA ? verdict(shrunk, bound) : "",
	       results_spread(cell, FIGURE_TRIM).median);
}

static void print_row(const struct results *results, const struct cell *cell)
{
	struct spread ns = results_spread(cell, FIGURE_NS);
	printf("  %-16s %12.2f %12.2f %5.0f %9.1f %9.1f", cell->allocator->name, ns.median, ns.min,
	       100 * (ns.max - ns.min) / ns.median, results_spread(cell, FIGURE_PEAK).median / MIB,
	       results_spread(cell, FIGURE_AFTER).median / MIB);
	if (cell->workload->group == GROUP_SHRINK)
		print_shrunk(cell);
	print_ratios(results, cell);
	putchar('\n');
}

static void print_mixed_peak(const struct results *results)
{
	const struct allocator *best = NULL;
	for (size_t i = 0; i < allocator_count; i++) {
		double sum = results_mixed_peak_bytes(results, &allocators[i]);
		if (allocators[i].kind == KIND_PEER && sum > 0 &&
		    (!best || sum < results_mixed_peak_bytes(results, best)))
			best = &allocators[i];
	}
	if (!best)
		return;
	printf("\npeak resident, sum of random-live, server-churn and shrink\n");
	for (size_t i = 0; i < allocator_count; i++) {
		double sum = results_mixed_peak_bytes(results, &allocators[i]);
		if (sum == 0)
			continue;
		printf("  %-16s %12.1f MiB", allocators[i].name, sum / MIB);
		double value = sum / results_mixed_peak_bytes(results, best);
		if (allocators[i].kind == KIND_LIBQA)
			printf("  %5.2f x %s (1.0)%s", value, best->name, verdict(value, 1.0));
		putchar('\n');
	}
}

static void print_notes(void)
{
	for (size_t i = 0; i < allocator_count; i++) {
		if (allocators[i].missing[0] != '\0')
			printf("left out: %s: %s\n", allocators[i].name, allocators[i].missing);
	}
}

void report_table(const struct results *results)
{
	const struct workload *last = NULL;
	printf("%zu rounds; ns/op: median, lowest, (highest - lowest) in %% of the median; resident MiB: peak, after\n"
	       "ratios to the fastest peer: of the medians, of the lowest, (to reach)\n",
	       results->rounds);
	for (size_t i = 0; i < results->count; i++) {
		const struct cell *cell = &results->cells[i];
		if (cell->count == 0)
			continue;
		if (cell->workload != last)
			printf("\n%s: %s\n  %-16s %12s %12s %5s %9s %9s\n", cell->workload->name, cell->workload->text,
			       "", "ns/op", "lowest", "%", "peak", "after");
		last = cell->workload;
		print_row(results, cell);
	}
	print_mixed_peak(results);
	print_notes();
}
