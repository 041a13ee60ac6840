/*
 * log.h - one line per event on stderr: "qad: warning: text".
 *
 * Control characters are escaped, so that a process name can not forge a line or drive a terminal. Lines about peers
 * that break the protocol are limited in number, since a peer decides how many there are.
 */
#ifndef QAD_LOG_H
#define QAD_LOG_H

#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log {
	enum log_level level;    /* what is less important is left out */
	uint64_t period_ends_ms; /* of the limit on faults */
	unsigned faults;         /* in this period */
	unsigned left_out;       /* not yet told about */
};

void log_init(struct log *log, enum log_level level);

void log_write(struct log *log, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * A warning about what a peer did: at most 20 in 10 seconds; the next line after that tells how many were left out.
 * now_ms is any clock in milliseconds that does not go back.
 */
void log_fault(struct log *log, uint64_t now_ms, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
