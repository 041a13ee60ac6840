/*
 * A list of objects, one per workload and allocator. ns_per_op, peak_rss_bytes, after_rss_bytes and base_rss_bytes are
 * medians. Members that say nothing for a row (a ratio of a peer, a bound without a trim) are not there.
 */
#include "report.h"

#include <jansson.h>
#include <stdio.h>

/* Below: 0 done, -1 out of memory, as jansson. */
static int set_number(json_t *row, const char *name, double value)
{
	return json_object_set_new(row, name, json_real(value));
}

static int set_bytes(json_t *row, const char *name, double value)
{
	return json_object_set_new(row, name, json_integer((json_int_t)value));
}

static int set_ratios(const struct results *results, const struct cell *cell, json_t *row)
{
	const struct cell *peer = results_best_peer(results, cell, FIGURE_NS), *floor = results_floor(results, cell);
	struct spread own = results_spread(cell, FIGURE_NS);
	double reach = allocator_is_sized(cell->allocator) ? cell->workload->reach_sized : cell->workload->reach;
	int error = 0;
	if (cell->allocator->kind != KIND_LIBQA)
		return 0;
	if (peer) {
		struct spread other = results_spread(peer, FIGURE_NS);
		error |= json_object_set_new(row, "fastest_peer", json_string(peer->allocator->name));
		error |= set_number(row, "ratio_to_fastest_peer", own.median / other.median);
		error |= set_number(row, "ratio_of_lowest", own.min / other.min);
	}
	if (reach > 0)
		error |= set_number(row, "ratio_to_reach", reach);
	const struct cell *other = results_other_build(results, cell);
	if (other)
		error |= set_number(row, "ratio_to_other", own.median / results_spread(other, FIGURE_NS).median);
	if (floor)
		error |= set_number(row, "ratio_to_floor", own.median / results_spread(floor, FIGURE_NS).median);
	return error;
}

static int set_figures(const struct results *results, const struct cell *cell, json_t *row)
{
	struct spread ns = results_spread(cell, FIGURE_NS);
	int error = json_object_set_new(row, "workload", json_string(cell->workload->name));
	error |= json_object_set_new(row, "allocator", json_string(cell->allocator->name));
	error |= set_number(row, "ns_per_op", ns.median);
	error |= set_number(row, "ns_per_op_lowest", ns.min);
	error |= set_number(row, "ns_per_op_highest", ns.max);
	error |= set_number(row, "ns_per_op_spread", (ns.max - ns.min) / ns.median);
	error |= json_object_set_new(row, "rounds", json_integer((json_int_t)cell->count));
	error |= set_bytes(row, "peak_rss_bytes", results_spread(cell, FIGURE_PEAK).median);
	error |= set_bytes(row, "after_rss_bytes", results_spread(cell, FIGURE_AFTER).median);
	error |= set_bytes(row, "base_rss_bytes", results_spread(cell, FIGURE_BASE).median);
	if (cell->workload->group == GROUP_SHRINK) {
		error |= set_bytes(row, "live_page_bytes", results_spread(cell, FIGURE_LIVE).median);
		error |= set_bytes(row, "shrunk_bytes", results_shrunk_bytes(cell));
		error |= set_bytes(row, "bound_bytes", results_bound_bytes(cell));
		error |= set_number(row, "trim_ms", results_spread(cell, FIGURE_TRIM).median);
	}
	return error | set_ratios(results, cell, row);
}

bool report_json(const struct results *results)
{
	json_t *list = json_array();
	int error = 0;
	for (size_t i = 0; i < results->count && !error; i++) {
		json_t *row = json_object();
		if (results->cells[i].count > 0)
			error = set_figures(results, &results->cells[i], row) | json_array_append(list, row);
		json_decref(row);
	}
	if (!error)
		error = json_dumpf(list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	if (!error)
		putchar('\n');
	json_decref(list);
	return !error;
}
