/*
 * run_program.h - the program that `qactl run` starts: where it is, and whether libqa_malloc.so can work in it.
 */
#ifndef QACTL_RUN_PROGRAM_H
#define QACTL_RUN_PROGRAM_H

#include <limits.h>

/* As shells have them. */
enum { RUN_CANNOT = 126, RUN_NOT_FOUND = 127 };

/*
 * Finds the word as execvp does, and looks at the file: at the interpreter if it is a script. Returns 0, or one of the
 * above after having said on stderr what is wrong. A file that can not be read is let through.
 */
int run_program_find(const char *word, char path[PATH_MAX]);

#endif
