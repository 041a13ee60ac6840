/*
 * init.h - the once-only start of libqa.
 */
#ifndef LIBQA_INIT_H
#define LIBQA_INIT_H

#include <stdbool.h>

/*
 * Reads the settings and readies the allocator, at the first allocation or when the library is loaded, whichever is
 * first. Any thread; may be called again from inside (the C library may allocate). False: a call from inside while the
 * settings are being read.
 */
bool init_ensure(void);

/* For fork: nobody is in the middle of it meanwhile. */
void init_lock(void);
void init_unlock(void);

#endif
