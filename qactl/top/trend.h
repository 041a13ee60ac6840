/*
 * trend.h - what a process had in the last five minutes, and how that looks as a line of small bars.
 *
 * A ring of points, one for each five seconds of client_clock_ms:
 *
 *     slot  newest - 59 ... newest - 1   newest        slot = time / TREND_STEP_MS
 *
 * Point of slot s is points[s % TREND_POINTS]; bit s % TREND_POINTS of known says whether there is one. Pure: no clock,
 * no memory of its own.
 */
#ifndef QACTL_TREND_H
#define QACTL_TREND_H

#include <stdint.h>

enum { TREND_POINTS = 60, TREND_STEP_MS = 5000, TREND_LEVELS = 8 };

enum trend_series { TREND_USED, TREND_CACHED, TREND_RSS, TREND_HELD };

struct trend_point {
	uint64_t used_bytes, cached_bytes, rss_bytes;
};

struct trend {
	int64_t newest; /* slot */
	uint64_t known;
	struct trend_point points[TREND_POINTS];
};

/* Figures of now: they replace those of the same slot. */
void trend_put(struct trend *trend, int64_t at_ms, const struct trend_point *point);

/* Figures of earlier: only where there are none. */
void trend_fill(struct trend *trend, int64_t at_ms, const struct trend_point *point);

/*
 * Fills levels with columns values for the time until now: 0 to TREND_LEVELS - 1 between 0 and the largest, -1 where
 * nothing is known. Columns of several points show the largest. At most TREND_POINTS columns.
 */
void trend_levels(const struct trend *trend, enum trend_series series, int64_t now_ms, int columns, int8_t *levels);

#endif
