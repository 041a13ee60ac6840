/*
 * What rows and the lines above them both have: a bar and a trend, in the glyphs of this terminal.
 */
#include "top/bar.h"
#include "top/draw.h"
#include "top/screen.h"

static void draw_repeated(int y, int x, int count, int style, const char *glyph)
{
	for (int i = 0; i < count; i++)
		screen_text(y, x + i, 1, style, glyph);
}

void draw_bar(int y, int x, int width, int style, uint64_t used_bytes, uint64_t cached_bytes)
{
	const struct screen_glyphs *glyphs = screen_glyphs();
	struct bar bar = bar_split(used_bytes, cached_bytes, width);

	screen_text(y, x, width, style, "");
	draw_repeated(y, x, bar.used, style | SCREEN_USED, glyphs->used);
	draw_repeated(y, x + bar.used, bar.cached, style | SCREEN_CACHED, glyphs->cached);
}

void draw_trend(int y, int x, int width, int style, const struct trend *trend, enum trend_series series)
{
	const struct screen_glyphs *glyphs = screen_glyphs();
	int8_t levels[TREND_POINTS];
	int columns = width < TREND_POINTS ? width : TREND_POINTS;

	screen_text(y, x, width, style, "");
	if (columns <= 0)
		return;
	trend_levels(trend, series, client_clock_ms(), columns, levels);
	for (int i = 0; i < columns; i++)
		if (levels[i] >= 0)
			screen_text(y, x + i, 1, style, glyphs->levels[levels[i]]);
}
