/*
 * size.h - quantities for people: bytes in binary units, shares, times.
 */
#ifndef QACTL_SIZE_H
#define QACTL_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* Enough for each text below, with its NUL. */
enum { SIZE_TEXT = 32 };

/* "0 B", "512 B", "1.5 KiB", "23.4 MiB" ... */
void size_format(uint64_t bytes, char *text, size_t text_bytes);

/* The same in 7 characters at most, for many columns: "512B", "1.5K", "1023.9M" ... */
void size_format_short(uint64_t bytes, char *text, size_t text_bytes);

/* A count, in 7 characters at most: "999999", "1.0M", "23.4G" in powers of 1,000. */
void size_format_count(uint64_t count, char *text, size_t text_bytes);

/* Both in 5 characters at most, for a narrow screen: "512B", "1.5K", "121M"; "999", "1.5k", "121k". */
void size_format_brief(uint64_t bytes, char *text, size_t text_bytes);
void size_format_count_brief(uint64_t count, char *text, size_t text_bytes);

/* The share of part in whole, "37.5"; "-" when there is no whole. 100.0 and 0.0 are shown only when they are exact. */
void size_format_percent(uint64_t part, uint64_t whole, char *text, size_t text_bytes);

/* A time of seconds: "7s", "3m04s", "5h12m", "12d03h". */
void size_format_uptime(uint64_t seconds, char *text, size_t text_bytes);

/* A short time: "85 us", "12.3 ms", "4.2 s". */
void size_format_duration(uint64_t microseconds, char *text, size_t text_bytes);

/* How old figures are: "850 ms", "12 s", then as an uptime. */
void size_format_age(uint64_t milliseconds, char *text, size_t text_bytes);

#endif
