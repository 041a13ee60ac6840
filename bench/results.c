/*
 * Medians, because single runs on a shared machine are worth little; the lowest is kept beside them, because what
 * disturbs a run can only make it longer.
 */
#include "results.h"

#include <stdlib.h>
#include <string.h>

#define BOUND_FACTOR 1.1
#define BOUND_BYTES (1 << 20)

static double figure_of(const struct sample *sample, enum figure figure)
{
	switch (figure) {
	case FIGURE_NS:
		return sample->ns_per_op;
	case FIGURE_PEAK:
		return sample->peak_rss_bytes;
	case FIGURE_AFTER:
		return sample->after_rss_bytes;
	case FIGURE_BASE:
		return sample->base_rss_bytes;
	case FIGURE_LIVE:
		return sample->live_page_bytes;
	case FIGURE_TRIM:
		return sample->trim_ms;
	}
	return 0;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

struct spread results_spread(const struct cell *cell, enum figure figure)
{
	double values[ROUNDS_MAX];
	if (cell->count == 0)
		return (struct spread){0, 0, 0};
	for (size_t i = 0; i < cell->count; i++)
		values[i] = figure_of(&cell->samples[i], figure);
	qsort(values, cell->count, sizeof values[0], compare_doubles);
	return (struct spread){(values[(cell->count - 1) / 2] + values[cell->count / 2]) / 2, values[0],
			       values[cell->count - 1]};
}

static bool is_peer_of(const struct cell *peer, const struct cell *cell)
{
	if (peer->workload != cell->workload || peer->count == 0)
		return false;
	return peer->allocator->kind == KIND_PEER ||
	       (peer->allocator->kind == KIND_SIZED_PEER && allocator_is_sized(cell->allocator));
}

const struct cell *results_best_peer(const struct results *results, const struct cell *cell, enum figure figure)
{
	const struct cell *best = NULL;
	for (size_t i = 0; i < results->count; i++) {
		const struct cell *peer = &results->cells[i];
		if (is_peer_of(peer, cell) &&
		    (!best || results_spread(peer, figure).median < results_spread(best, figure).median))
			best = peer;
	}
	return best;
}

const struct cell *results_other_build(const struct results *results, const struct cell *cell)
{
	const struct allocator *other = allocator_other_build(cell->allocator);
	for (size_t i = 0; other && i < results->count; i++) {
		if (results->cells[i].workload == cell->workload && results->cells[i].allocator == other &&
		    results->cells[i].count > 0)
			return &results->cells[i];
	}
	return NULL;
}

const struct cell *results_floor(const struct results *results, const struct cell *cell)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct cell *other = &results->cells[i];
		if (other->workload == cell->workload && other->allocator->kind == KIND_FLOOR && other->count > 0)
			return other;
	}
	return NULL;
}

double results_bound_bytes(const struct cell *cell)
{
	return BOUND_FACTOR * results_spread(cell, FIGURE_LIVE).median + BOUND_BYTES;
}

double results_shrunk_bytes(const struct cell *cell)
{
	return results_spread(cell, FIGURE_AFTER).median - results_spread(cell, FIGURE_BASE).median;
}

static bool is_mixed(const struct workload *workload)
{
	return workload->group == GROUP_LIVE || workload->group == GROUP_CHURN || workload->group == GROUP_SHRINK;
}

double results_mixed_peak_bytes(const struct results *results, const struct allocator *allocator)
{
	double sum = 0;
	for (size_t i = 0; i < workload_count; i++) {
		const struct cell *found = NULL;
		for (size_t j = 0; is_mixed(&workloads[i]) && j < results->count; j++) {
			const struct cell *cell = &results->cells[j];
			if (cell->workload == &workloads[i] && cell->allocator == allocator && cell->count > 0)
				found = cell;
		}
		if (is_mixed(&workloads[i]) && !found)
			return 0;
		sum += found ? results_spread(found, FIGURE_PEAK).median : 0;
	}
	return sum;
}
