/* entry.h - what leaves libqa_malloc.so: the names of libqa_malloc.map, each marked here too. */
#ifndef LIBQA_MALLOC_ENTRY_H
#define LIBQA_MALLOC_ENTRY_H

#define ENTRY __attribute__((visibility("default")))

#endif
