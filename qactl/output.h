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

/* Says that memory is out. Returns 71 (EX_OSERR). */
int output_no_memory(void);

/*
 * After each part of an output that may have no end. 0, or 74: nobody reads it any more, which is a usual end of such
 * an output and needs no message; or it could not be written, and output_finish will say why.
 */
int output_flush(void);

/* Nobody reads stdout any more: the same without a write. Returns 74. */
int output_reader_gone(void);

/* Closes stdout. Returns status, or 74 (EX_IOERR) with a message when status is 0 and not all data could be written. */
int output_finish(int status);

#endif
