/*
 * AddressSanitizer is in the program, not in libqa: its functions are found at run time, if they are there. Valgrind
 * sees client requests, instructions that do nothing elsewhere; they need its header at build time.
 *
 * Under Valgrind an allocation and a free are reported as such, so that its reports name where the block was allocated
 * and freed, and its leak check knows the pool's blocks.
 */
#include "tool.h"

#ifdef HAVE_VALGRIND
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_MALLOCLIKE_BLOCK(block, size, guard, zeroed) ((void)(block), (void)(size))
#define VALGRIND_FREELIKE_BLOCK(block, guard) ((void)(block))
#define VALGRIND_MAKE_MEM_DEFINED(block, size) ((void)(block), (void)(size))
#define VALGRIND_MAKE_MEM_NOACCESS(block, size) ((void)(block), (void)(size))
#endif

extern void __asan_poison_memory_region(void const volatile *address, size_t size)
	__attribute__((weak, visibility("default")));
extern void __asan_unpoison_memory_region(void const volatile *address, size_t size)
	__attribute__((weak, visibility("default")));

static void forbid(void *address, size_t size)
{
	if (__asan_poison_memory_region)
		__asan_poison_memory_region(address, size);
}

static void allow(void *address, size_t size)
{
	if (__asan_unpoison_memory_region)
		__asan_unpoison_memory_region(address, size);
}

bool tool_is_present(void)
{
	return __asan_poison_memory_region || RUNNING_ON_VALGRIND;
}

void tool_allocated(void *block, size_t usable, size_t guard)
{
	allow(block, usable);
	forbid((char *)block + usable, guard);
	VALGRIND_MALLOCLIKE_BLOCK(block, usable, 0, 0);
	VALGRIND_MAKE_MEM_NOACCESS((char *)block + usable, guard);
}

void tool_examined(void *block, size_t usable, size_t guard)
{
	allow((char *)block + usable, guard);
	VALGRIND_MAKE_MEM_DEFINED((char *)block + usable, guard);
}

void tool_freed(void *block, size_t usable, size_t guard)
{
	forbid(block, usable + guard);
	VALGRIND_FREELIKE_BLOCK(block, 0);
	VALGRIND_MAKE_MEM_NOACCESS((char *)block + usable, guard);
}

void tool_forgotten(void *block, size_t size)
{
	allow(block, size);
	VALGRIND_MAKE_MEM_DEFINED(block, size);
}
