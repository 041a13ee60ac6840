/*
 * fast.h - the fast paths of libqa.so compiled into this library: what malloc, free and operator new are made of. All
 * else is a call of libqa.so's.
 */
#ifndef LIBQA_MALLOC_FAST_H
#define LIBQA_MALLOC_FAST_H

#include <stddef.h>

#include "page_map_window.h"
#include "qa.h"
#include "size_class.h"

#pragma GCC visibility push(hidden)

/* Of a size above the table. */
void *fast_malloc_bigger(size_t size);

/* Ours, whatever the name leads to. */
void *own_malloc(size_t size);
void own_free(void *block);

#pragma GCC visibility pop

/* Compilers take a name and its alias for one address; it is the dynamic loader that knows. */
static inline bool is_same(void (*one)(void), void (*other)(void))
{
	__asm__("" : "+r"(one));
	return one == other;
}

/* Whether a name that the program may have replaced leads to us. */
#define IS_OWN(name, own) is_same((void (*)(void))(name), (void (*)(void))(own))

static inline __attribute__((always_inline)) void *fast_malloc(size_t size)
{
	if (QA_UNLIKELY_(size > SIZE_CLASS_TABLE_BYTES))
		return fast_malloc_bigger(size);
	return qa_alloc_class_(size_class_table[(size + 15) / 16]);
}

/*
 * Also where the size is told: that of a block that realloc left in place, or that came from an operator new of the
 * program's own, does not tell its class.
 */
static inline __attribute__((always_inline)) void fast_free(void *block)
{
	unsigned kind;
	if (QA_LIKELY_(window_kind(block, &kind)))
		qa_dealloc_class_(block, kind);
	else
		qa_free(block);
}

#endif
