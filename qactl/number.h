/*
 * number.h - numbers as people write them. Each returns false when the text is none, or none that fits.
 */
#ifndef QACTL_NUMBER_H
#define QACTL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* A count, or with K, M or G a multiple of 1,024. */
bool number_read(const char *text, uint64_t *value);

/* Seconds, with s, m, h or d what that means, as milliseconds: "90", "0.5", "5m", "2h", "1d". */
bool number_read_time(const char *text, uint64_t *value_ms);
/* The same for how often qad tells: a day at most. */
bool number_read_interval(const char *text, uint64_t *value_ms);
/* The same in whole seconds, at least one. */
bool number_read_seconds(const char *text, uint64_t *value_s);

/* How many times as fast. */
bool number_read_factor(const char *text, double *value);
/* Columns or lines of a picture. */
bool number_read_cells(const char *text, uint64_t *value);

#endif
