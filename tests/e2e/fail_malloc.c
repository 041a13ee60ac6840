/*
 * Preloaded into qad: while the file named by FAIL_MALLOC exists, of the allocations every FAIL_EVERYth fails. Those of
 * libuv do not: it ends the program when it can not enlarge its table of descriptors, which no caller can mend.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static atomic_uint calls;
static _Thread_local bool is_inside; /* dladdr may allocate */

static bool is_of_libuv(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, "libuv") != NULL;
}

static bool fails(const void *caller)
{
	const char *file = getenv("FAIL_MALLOC"), *every = getenv("FAIL_EVERY");
	bool is_to_fail = false;
	int error = errno;

	if (is_inside || file == NULL || every == NULL)
		return false;
	is_inside = true;
	if (access(file, F_OK) == 0 && !is_of_libuv(caller))
		is_to_fail = atomic_fetch_add(&calls, 1) % (unsigned)atoi(every) == 0;
	is_inside = false;
	errno = is_to_fail ? ENOMEM : error;
	return is_to_fail;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
