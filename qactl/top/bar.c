/*
 * Rounded to the nearest column; yet a small share of something large is not rounded away, as one block that is in use
 * is what keeps memory from going back.
 */
#include "top/bar.h"

struct bar bar_split(uint64_t used_bytes, uint64_t cached_bytes, int columns)
{
	double held = (double)used_bytes + (double)cached_bytes;
	struct bar bar = {0, 0};

	if (held == 0 || columns <= 0)
		return bar;
	bar.used = (int)((double)used_bytes / held * columns + 0.5);
	if (columns >= 2 && used_bytes > 0 && bar.used == 0)
		bar.used = 1;
	if (columns >= 2 && cached_bytes > 0 && bar.used == columns)
		bar.used = columns - 1;
	bar.cached = columns - bar.used;
	return bar;
}
