/*
 * A ring knows only the number of its newest point; the others follow from their place. Time that passed without a
 * figure is filled with a mark when the next one comes, so that a reader need not compare times. The newest figure of
 * a step is the one that is kept.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 15 * 60, TENS = 6 * 60 * 6, FIGURES = 6 };

/* A whole number of 0 to 2^42 in 16 bits: | exponent: 5 | mantissa: 11 |, below 2,048 the number itself. */
enum { MANTISSA_BITS = 11, LEAST_NORMAL = 1 << MANTISSA_BITS, LARGEST = 0xfffe, NOTHING = 0xffff };

struct point {
	uint16_t figures[FIGURES]; /* in the order of struct history_figures; NOTHING in the first: no figures */
};

struct history_rings {
	bool has_points;
	uint64_t newest[HISTORY_STEPS];
	struct point seconds[SECONDS];
	struct point tens[TENS];
};

_Static_assert(sizeof(struct history_rings) + HISTORY_TRIMS * sizeof(struct history_trim) <= 40 << 10,
	       "at most 40 KiB a target");
_Static_assert(sizeof(struct history_figures) == FIGURES * sizeof(uint64_t), "each figure has a place in a point");

static uint16_t pack(uint64_t value)
{
	unsigned shift = 0;

	if (value < LEAST_NORMAL)
		return (uint16_t)value;
	if (value >> 42 != 0)
		return LARGEST;
	while (value >> shift >= 2 * LEAST_NORMAL)
		shift++;
	if (shift > 0)
		value += (uint64_t)1 << (shift - 1); /* to the nearest */
	if (value >> shift >= 2 * LEAST_NORMAL)
		shift++;

	uint64_t packed = ((uint64_t)(shift + 1) << MANTISSA_BITS) + (value >> shift) - LEAST_NORMAL;
	return packed < LARGEST ? (uint16_t)packed : LARGEST;
}

static uint64_t unpack(uint16_t packed)
{
	unsigned exponent = packed >> MANTISSA_BITS;
	uint64_t mantissa = packed & (LEAST_NORMAL - 1);

	return exponent == 0 ? mantissa : (mantissa + LEAST_NORMAL) << (exponent - 1);
}

static size_t ring_length(enum history_step step)
{
	return step == HISTORY_SECONDS ? SECONDS : TENS;
}

static struct point *point_at(struct history_rings *rings, enum history_step step, uint64_t point)
{
	return step == HISTORY_SECONDS ? &rings->seconds[point % SECONDS] : &rings->tens[point % TENS];
}

unsigned history_step_s(enum history_step step)
{
	return step == HISTORY_SECONDS ? 1 : 10;
}

bool history_step_of(uint64_t step_s, enum history_step *step)
{
	*step = step_s == 1 ? HISTORY_SECONDS : HISTORY_TENS;
	return step_s == history_step_s(*step);
}

static void ring_add(struct history_rings *rings, enum history_step step, uint64_t point, const struct point *figures)
{
	uint64_t newest = rings->newest[step];

	if (!rings->has_points) {
		newest = point - 1;
		for (uint64_t i = 0; i < ring_length(step); i++)
			point_at(rings, step, i)->figures[0] = NOTHING;
	}
	if (point > newest + ring_length(step))
		newest = point - ring_length(step);
	while (newest < point)
		point_at(rings, step, ++newest)->figures[0] = NOTHING;
	if (point == newest)
		*point_at(rings, step, point) = *figures;
	rings->newest[step] = newest;
}

bool history_add(struct history *history, uint64_t now_ms, const struct qp_totals *totals, uint64_t rss_bytes)
{
	struct point point = {{pack(totals->used_bytes), pack(totals->thread_bytes), pack(totals->partial_bytes),
			       pack(totals->empty_bytes), pack(totals->slack_bytes), pack(rss_bytes)}};

	if (history->rings == NULL)
		history->rings = calloc(1, sizeof(*history->rings));
	if (history->rings == NULL)
		return false;
	for (enum history_step step = 0; step < HISTORY_STEPS; step++)
		ring_add(history->rings, step, now_ms / 1000 / history_step_s(step) + 1, &point);
	history->rings->has_points = true;
	return true;
}

bool history_range(const struct history *history, enum history_step step, uint64_t *first, uint64_t *last)
{
	if (history->rings == NULL)
		return false;
	*last = history->rings->newest[step];
	*first = *last > ring_length(step) ? *last - ring_length(step) + 1 : 1;
	return true;
}

bool history_get(const struct history *history, enum history_step step, uint64_t point, struct history_figures *figures)
{
	uint64_t first, last, values[FIGURES];

	if (!history_range(history, step, &first, &last) || point < first || point > last)
		return false;
	const struct point *packed = point_at(history->rings, step, point);
	if (packed->figures[0] == NOTHING)
		return false;
	for (size_t i = 0; i < FIGURES; i++)
		values[i] = unpack(packed->figures[i]);
	memcpy(figures, values, sizeof(*figures));
	return true;
}

bool history_add_trim(struct history *history, const struct history_trim *trim)
{
	if (history->trims == NULL)
		history->trims = calloc(HISTORY_TRIMS, sizeof(*history->trims));
	if (history->trims == NULL)
		return false;
	history->trims[history->trim_count++ % HISTORY_TRIMS] = *trim;
	return true;
}

size_t history_trims(const struct history *history)
{
	return history->trim_count < HISTORY_TRIMS ? (size_t)history->trim_count : HISTORY_TRIMS;
}

const struct history_trim *history_trim_at(const struct history *history, size_t number)
{
	uint64_t oldest = history->trim_count - history_trims(history);

	return &history->trims[(oldest + number) % HISTORY_TRIMS];
}

size_t history_bytes(const struct history *history)
{
	return (history->rings != NULL ? sizeof(*history->rings) : 0) +
	       (history->trims != NULL ? HISTORY_TRIMS * sizeof(*history->trims) : 0);
}

void history_finish(struct history *history)
{
	free(history->rings);
	free(history->trims);
	*history = (struct history){.rings = NULL};
}
