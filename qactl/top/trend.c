/*
 * A trend begins at zero, not at its least value: a line that looks steep must be so. What was not recorded is a gap.
 */
#include "top/trend.h"

#include <stdbool.h>

static unsigned index_of(int64_t slot)
{
	return (unsigned)(slot % TREND_POINTS);
}

static bool is_known(const struct trend *trend, int64_t slot)
{
	return slot <= trend->newest && slot > trend->newest - TREND_POINTS && slot >= 0 &&
	       (trend->known >> index_of(slot) & 1);
}

static void set(struct trend *trend, int64_t slot, const struct trend_point *point)
{
	trend->points[index_of(slot)] = *point;
	trend->known |= UINT64_C(1) << index_of(slot);
}

static void advance(struct trend *trend, int64_t slot)
{
	if (slot - trend->newest >= TREND_POINTS)
		trend->known = 0;
	else
		for (int64_t s = trend->newest + 1; s <= slot; s++)
			trend->known &= ~(UINT64_C(1) << index_of(s));
	trend->newest = slot;
}

void trend_put(struct trend *trend, int64_t at_ms, const struct trend_point *point)
{
	int64_t slot = at_ms / TREND_STEP_MS;

	if (slot > trend->newest)
		advance(trend, slot);
	if (slot >= 0 && slot > trend->newest - TREND_POINTS)
		set(trend, slot, point);
}

void trend_fill(struct trend *trend, int64_t at_ms, const struct trend_point *point)
{
	int64_t slot = at_ms / TREND_STEP_MS;

	if (at_ms >= 0 && !is_known(trend, slot))
		trend_put(trend, at_ms, point);
}

static uint64_t value_of(const struct trend_point *point, enum trend_series series)
{
	switch (series) {
	case TREND_USED:
		return point->used_bytes;
	case TREND_CACHED:
		return point->cached_bytes;
	case TREND_RSS:
		return point->rss_bytes;
	default:
		return point->used_bytes + point->cached_bytes;
	}
}

/* The largest of the slots from first to before end; -1: none is known. */
static double largest(const struct trend *trend, enum trend_series series, int64_t first, int64_t end)
{
	double most = -1;

	for (int64_t slot = first; slot < end; slot++)
		if (is_known(trend, slot)) {
			double value = (double)value_of(&trend->points[index_of(slot)], series);

			most = value > most ? value : most;
		}
	return most;
}

void trend_levels(const struct trend *trend, enum trend_series series, int64_t now_ms, int columns, int8_t *levels)
{
	int64_t first = now_ms / TREND_STEP_MS - TREND_POINTS + 1;
	double most = largest(trend, series, first, first + TREND_POINTS);

	for (int i = 0; i < columns; i++) {
		double value = largest(trend, series, first + i * TREND_POINTS / columns,
				       first + (i + 1) * TREND_POINTS / columns);

		if (value <= 0)
			levels[i] = value < 0 ? -1 : 0;
		else
			levels[i] = (int8_t)(1 + value * (TREND_LEVELS - 1.5) / most);
	}
}
