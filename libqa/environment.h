/*
 * environment.h - the environment, also before the C library knows it: an allocation may come from a library that is
 * initialised before libc is (-z initfirst), and the settings hold for it too.
 */
#ifndef LIBQA_ENVIRONMENT_H
#define LIBQA_ENVIRONMENT_H

#include <stddef.h>

struct environment {
	char *text; /* a mapping with /proc/self/environ, or NULL: the C library knows it */
	size_t bytes;
};

/* Set-user-ID programs have an empty one. Allocates nothing; errno is kept. */
void environment_open(struct environment *environment);
/* The value, valid until the close, or NULL. */
const char *environment_get(const struct environment *environment, const char *name);
void environment_close(struct environment *environment);

#endif
