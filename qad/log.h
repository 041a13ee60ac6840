/*
 * log.h - one line per event on stderr: "qad: warning: text".
 *
 * Control characters are escaped, so that a process name can not forge a line or drive a terminal. Lines of which a
 * peer decides how many there are, about its faults or what it had done to its own processes, are limited in number.
 * When stderr is the journal of systemd, "<4>" before the line tells it the level.
 */
#ifndef QAD_LOG_H
#define QAD_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* At most 20 lines in 10 seconds; the next line after that tells how many were left out. */
struct log_limit {
	uint64_t period_ends_ms;
	unsigned lines;    /* in this period */
	unsigned left_out; /* not yet told about */
};

struct log {
	enum log_level level; /* what is less important is left out */
	bool is_journal;
	struct log_limit faults, deeds, troubles;
};

void log_init(struct log *log, enum log_level level);

void log_write(struct log *log, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A warning about a peer's fault, limited. now_ms is any clock in milliseconds that does not go back. */
void log_fault(struct log *log, uint64_t now_ms, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * A warning about what qad itself lacks (descriptors, memory), limited by itself: peers that make faults can not have
 * it left out. False: it was.
 */
bool log_trouble(struct log *log, uint64_t now_ms, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A notice of what a user had done to processes of their own, limited by itself. */
void log_deed(struct log *log, uint64_t now_ms, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
