/*
 * draw.h - puts the state of top on the screen. Reads it only; top_arrange has been called for the screen's size.
 */
#ifndef QACTL_DRAW_H
#define QACTL_DRAW_H

#include "top/top.h"

void draw(const struct top *top);

/* The lines above the rows, and the one below: draw_head.c. */
void draw_head(const struct top *top);
void draw_foot(const struct top *top);

/* draw_parts.c: a bar of used and cached; a trend until now. */
void draw_bar(int y, int x, int width, int style, uint64_t used_bytes, uint64_t cached_bytes);
void draw_trend(int y, int x, int width, int style, const struct trend *trend, enum trend_series series);

#endif
