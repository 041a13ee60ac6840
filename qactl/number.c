/*
 * strtoull(3) and strtod(3) take more than a person means (signs, spaces, "inf"), so that each text is looked at before
 * or after. NaN fails every comparison here.
 */
#include "number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool number_read(const char *text, uint64_t *value)
{
	static const char units[] = "KMG";
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (*end) {
		const char *unit = strchr(units, *end);
		unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

		if (!unit || end[1] || *value > UINT64_MAX >> shift)
			return false;
		*value <<= shift;
	}
	return true;
}

bool number_read_time(const char *text, uint64_t *value_ms)
{
	static const char units[] = "smhd";
	static const double unit_s[] = {1, 60, 3600, 86400};
	const double most_s = 1e9;
	char *end;
	double seconds = strtod(text, &end);
	const char *unit = end != text && *end ? strchr(units, *end) : NULL;

	if (end == text || (*end && (!unit || end[1])))
		return false;
	seconds *= unit ? unit_s[unit - units] : 1;
	if (!(seconds >= 0.001) || seconds > most_s)
		return false;
	*value_ms = (uint64_t)(seconds * 1000 + 0.5);
	return true;
}

bool number_read_interval(const char *text, uint64_t *value_ms)
{
	enum { DAY_MS = 86400 * 1000 };

	return number_read_time(text, value_ms) && *value_ms <= DAY_MS;
}

bool number_read_seconds(const char *text, uint64_t *value_s)
{
	uint64_t value_ms;

	if (!number_read_time(text, &value_ms) || value_ms < 1000)
		return false;
	*value_s = value_ms / 1000;
	return true;
}

bool number_read_factor(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value > 0 && *value <= 1e6;
}

bool number_read_cells(const char *text, uint64_t *value)
{
	enum { MOST = 1000 };

	return number_read(text, value) && *value > 0 && *value <= MOST;
}
