/*
 * output.h - the standard streams: data goes to stdout, messages to stderr.
 */
#ifndef QACTL_OUTPUT_H
#define QACTL_OUTPUT_H

/* Before anything is opened: no descriptor of a closed standard stream is used for something else; no SIGPIPE. */
void output_prepare(void);

/* Before another program takes this one's place: signals are as they were. */
void output_restore(void);

/* One message on stderr, after the data printed so far: "qactl: ..." and a newline. */
void output_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Closes stdout. Returns status, or 74 (EX_IOERR) with a message when status is 0 and not all data could be written. */
int output_finish(int status);

#endif
