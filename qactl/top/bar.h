/*
 * bar.h - how many columns of a bar are used and how many cached.
 */
#ifndef QACTL_BAR_H
#define QACTL_BAR_H

#include <stdint.h>

struct bar {
	int used, cached; /* columns; the rest is empty */
};

/*
 * A bar of so many columns whose whole length is held = used + cached. What is there at all has a column, if there are
 * two; nothing held: an empty bar.
 */
struct bar bar_split(uint64_t used_bytes, uint64_t cached_bytes, int columns);

#endif
