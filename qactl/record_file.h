/*
 * record_file.h - the file that 'qactl record' writes: whole lines, each by one write, so that a reader of a growing
 * file sees no half of one.
 */
#ifndef QACTL_RECORD_FILE_H
#define QACTL_RECORD_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct record_file {
	const char *path; /* the caller's; "-": stdout */
	int fd;
	bool is_new;       /* it was not there before */
	bool has_failed;   /* a line could not be written; nothing more is */
	off_t whole_bytes; /* of the lines that are whole */
	uint64_t records;
};

/* Creates the file, which must not exist unless force. 0, or 73 or 74 after having said why. */
int record_file_open(struct record_file *file, const char *path, bool force);

/*
 * Writes a line, which this takes over (NULL: no memory for it). 0; 71; or 74 after having said why and cut off what
 * was written of the line.
 */
int record_file_write(struct record_file *file, json_t *line);

/* Removes it if it is new and has no record. 0 or 74. */
int record_file_close(struct record_file *file);

#endif
