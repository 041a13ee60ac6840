/*
 * run_library.h - what belongs to qactl's installation or build: libqa_malloc.so and qad.
 */
#ifndef QACTL_RUN_LIBRARY_H
#define QACTL_RUN_LIBRARY_H

#include <limits.h>

/*
 * The library to preload: QA_MALLOC_LIBRARY, or that of our build or installation. Returns 0, or an exit status after
 * having said what is wrong.
 */
int run_library_find(char path[PATH_MAX]);

/* Puts the library before what LD_PRELOAD has, unless it is there already. Returns 0 or an exit status. */
int run_library_preload(const char *path);

/* The qad of our build or installation, or "qad", to be looked for in PATH. */
void run_qad_find(char path[PATH_MAX]);

#endif
