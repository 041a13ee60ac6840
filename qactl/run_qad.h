/*
 * run_qad.h - sees to it that a qad is there for the program that is about to run.
 */
#ifndef QACTL_RUN_QAD_H
#define QACTL_RUN_QAD_H

#include <stdbool.h>

/*
 * Returns 0 when a qad is reachable, if need be after having started the user's own: at socket_path if that is not
 * NULL, else where qad listens by default. Else an exit status, after having said why.
 */
int run_qad_ensure(const char *socket_path, bool may_start);

#endif
