/*
 * run_exit.h - `qactl run --stats-at-exit`: what the program held when it ended.
 */
#ifndef QACTL_RUN_EXIT_H
#define QACTL_RUN_EXIT_H

/*
 * Runs the program as a child, waits for it, and prints its figures on stderr. Returns its exit status, or ends by the
 * signal that ended it. words is its command line, name its label or NULL, socket_path where qad is, or NULL.
 */
int run_exit(const char *path, char **words, const char *name, const char *socket_path);

/* Becomes the program; returns an exit status after having said why it could not. */
int run_exec(const char *path, char **words);

#endif
