/*
 * One decimal is enough to compare by eye; who needs exact figures takes --json. Rounding never shows a number that its
 * unit can not hold (1024.0 KiB), and never hides a rest (100.0 % while a block is used).
 */
#include "size.h"

#include <inttypes.h>
#include <stdio.h>

static double scale(uint64_t bytes, size_t *unit)
{
	enum { LAST_UNIT = 6 };
	double value = (double)bytes;

	*unit = 0;
	/* 1023.95 would be printed as 1024.0. */
	while (value >= (*unit ? 1023.95 : 1024.0) && *unit < LAST_UNIT) {
		value /= 1024;
		++*unit;
	}
	return value;
}

void size_format(uint64_t bytes, char *text, size_t text_bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t unit;
	double value = scale(bytes, &unit);

	snprintf(text, text_bytes, "%.*f %s", unit ? 1 : 0, value, units[unit]);
}

void size_format_short(uint64_t bytes, char *text, size_t text_bytes)
{
	size_t unit;
	double value = scale(bytes, &unit);

	snprintf(text, text_bytes, "%.*f%c", unit ? 1 : 0, value, "BKMGTPE"[unit]);
}

void size_format_count(uint64_t count, char *text, size_t text_bytes)
{
	static const char units[] = "MGTPE";
	double value = (double)count / 1e6;
	size_t unit = 0;

	if (count < 1000000) {
		snprintf(text, text_bytes, "%" PRIu64, count);
		return;
	}
	for (; value >= 999.95 && units[unit + 1]; unit++)
		value /= 1000;
	snprintf(text, text_bytes, "%.1f%c", value, units[unit]);
}

/* next: how many of a unit make one of the next; of units the first is that of 1, a space: none. */
static void format_brief(uint64_t number, unsigned next, const char *units, char *text, size_t text_bytes)
{
	double value = (double)number;
	const char *unit = units;

	/* 1023.5 would be printed as 1024. */
	while (value >= (unit == units ? next : next - 0.5) && unit[1]) {
		value /= next;
		unit++;
	}
	if (number == 0 || *unit == ' ')
		snprintf(text, text_bytes, "%" PRIu64, number);
	else
		snprintf(text, text_bytes, "%.*f%c", unit > units && value < 99.95 ? 1 : 0, value, *unit);
}

void size_format_brief(uint64_t bytes, char *text, size_t text_bytes)
{
	format_brief(bytes, 1024, "BKMGTPE", text, text_bytes);
}

void size_format_count_brief(uint64_t count, char *text, size_t text_bytes)
{
	format_brief(count, 1000, " kMGTPE", text, text_bytes);
}

void size_format_percent(uint64_t part, uint64_t whole, char *text, size_t text_bytes)
{
	double percent;

	if (whole == 0) {
		snprintf(text, text_bytes, "-");
		return;
	}
	percent = 100.0 * (double)part / (double)whole;
	if (part < whole && percent > 99.9)
		percent = 99.9;
	if (part > 0 && percent < 0.1)
		percent = 0.1;
	snprintf(text, text_bytes, "%.1f", percent);
}

void size_format_uptime(uint64_t seconds, char *text, size_t text_bytes)
{
	uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	if (days)
		snprintf(text, text_bytes, "%" PRIu64 "d%02uh", days, (unsigned)(hours % 24));
	else if (hours)
		snprintf(text, text_bytes, "%" PRIu64 "h%02um", hours, (unsigned)(minutes % 60));
	else if (minutes)
		snprintf(text, text_bytes, "%" PRIu64 "m%02us", minutes, (unsigned)(seconds % 60));
	else
		snprintf(text, text_bytes, "%" PRIu64 "s", seconds);
}

void size_format_duration(uint64_t microseconds, char *text, size_t text_bytes)
{
	if (microseconds < 1000)
		snprintf(text, text_bytes, "%" PRIu64 " us", microseconds);
	else if (microseconds < 999950)
		snprintf(text, text_bytes, "%.1f ms", (double)microseconds / 1e3);
	else
		snprintf(text, text_bytes, "%.1f s", (double)microseconds / 1e6);
}

void size_format_age(uint64_t milliseconds, char *text, size_t text_bytes)
{
	if (milliseconds < 1000)
		snprintf(text, text_bytes, "%" PRIu64 " ms", milliseconds);
	else if (milliseconds < 60000)
		snprintf(text, text_bytes, "%" PRIu64 " s", milliseconds / 1000);
	else
		size_format_uptime(milliseconds / 1000, text, text_bytes);
}
