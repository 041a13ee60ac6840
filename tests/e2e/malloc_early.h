/* malloc_early.h - what the library that comes first has done. */
#ifndef TESTS_MALLOC_EARLY_H
#define TESTS_MALLOC_EARLY_H

#pragma GCC visibility push(default)
extern char *early_block;     /* 40000 bytes, the first 100 are 7 */
extern int early_had_environ; /* whether libc was ready; -1: the constructor did not run */
#pragma GCC visibility pop

#endif
