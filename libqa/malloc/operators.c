/*
 * C++ operator new and delete in every form, for programs with any C++ library or none: this one is not linked to one,
 * since a C program should not have to load it.
 *
 * As the standard wants it, all forms lead to four (plain and aligned, new and delete), and to those of the program
 * itself if it has replaced them: so they are called by their names here. What memory that is out asks for (the new
 * handler, std::bad_alloc, and to catch it for the nothrow forms) is left to the same operator of the C++ library: it
 * tries once more through our malloc, and fails as it should. It is looked for only then.
 *
 * Size and alignment that a delete is told are not needed, see malloc.c.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "malloc/entry.h"
#include "malloc/fast.h"

_Static_assert(sizeof(size_t) == sizeof(unsigned long), "the names below are those of an unsigned long");

struct nothrow;

#define NEW "_Znwm"
#define NEW_ARRAY "_Znam"
#define NEW_NOTHROW "_ZnwmRKSt9nothrow_t"
#define NEW_ARRAY_NOTHROW "_ZnamRKSt9nothrow_t"
#define NEW_ALIGNED "_ZnwmSt11align_val_t"
#define NEW_ARRAY_ALIGNED "_ZnamSt11align_val_t"
#define NEW_ALIGNED_NOTHROW "_ZnwmSt11align_val_tRKSt9nothrow_t"
#define NEW_ARRAY_ALIGNED_NOTHROW "_ZnamSt11align_val_tRKSt9nothrow_t"

void *new_plain(size_t) __asm__(NEW);
void *new_array(size_t) __asm__(NEW_ARRAY);
void *new_nothrow(size_t, const struct nothrow *) __asm__(NEW_NOTHROW);
void *new_array_nothrow(size_t, const struct nothrow *) __asm__(NEW_ARRAY_NOTHROW);
void *new_aligned(size_t, size_t) __asm__(NEW_ALIGNED);
void *new_array_aligned(size_t, size_t) __asm__(NEW_ARRAY_ALIGNED);
void *new_aligned_nothrow(size_t, size_t, const struct nothrow *) __asm__(NEW_ALIGNED_NOTHROW);
void *new_array_aligned_nothrow(size_t, size_t, const struct nothrow *) __asm__(NEW_ARRAY_ALIGNED_NOTHROW);

void delete_plain(void *) __asm__("_ZdlPv");
void delete_array(void *) __asm__("_ZdaPv");
void delete_sized(void *, size_t) __asm__("_ZdlPvm");
void delete_array_sized(void *, size_t) __asm__("_ZdaPvm");
void delete_nothrow(void *, const struct nothrow *) __asm__("_ZdlPvRKSt9nothrow_t");
void delete_array_nothrow(void *, const struct nothrow *) __asm__("_ZdaPvRKSt9nothrow_t");
void delete_aligned(void *, size_t) __asm__("_ZdlPvSt11align_val_t");
void delete_array_aligned(void *, size_t) __asm__("_ZdaPvSt11align_val_t");
void delete_sized_aligned(void *, size_t, size_t) __asm__("_ZdlPvmSt11align_val_t");
void delete_array_sized_aligned(void *, size_t, size_t) __asm__("_ZdaPvmSt11align_val_t");
void delete_aligned_nothrow(void *, size_t, const struct nothrow *) __asm__("_ZdlPvSt11align_val_tRKSt9nothrow_t");
void delete_array_aligned_nothrow(void *, size_t,
				  const struct nothrow *) __asm__("_ZdaPvSt11align_val_tRKSt9nothrow_t");

/*
 * The operator of the C++ library: behind us in the order of the program's libraries, or, when only a plugin has it, in
 * one that is loaded.
 */
static __attribute__((cold)) void *library_operator(const char *name)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
	void *found = dlsym(RTLD_NEXT, name);
	for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (library) {
			found = dlsym(library, name);
			dlclose(library);
		}
	}
	return found;
}

static __attribute__((cold, noreturn)) void fail_without_library(void)
{
	static const char line[] = "libqa: operator new: out of memory, and no C++ library to throw std::bad_alloc\n";
	ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
	(void)written; /* nowhere else to say it */
	abort();
}

static __attribute__((cold, noinline)) void *new_failed(size_t size)
{
	void *(*again)(size_t) = (void *(*)(size_t))library_operator(NEW);
	if (!again)
		fail_without_library();
	return again(size);
}

static __attribute__((cold, noinline)) void *new_aligned_failed(size_t size, size_t align)
{
	void *(*again)(size_t, size_t) = (void *(*)(size_t, size_t))library_operator(NEW_ALIGNED);
	if (!again)
		fail_without_library();
	return again(size, align);
}

/* Ours, whatever the name leads to. */
extern void *own_new_plain(size_t) __attribute__((alias(NEW), visibility("hidden")));
extern void *own_new_array(size_t) __attribute__((alias(NEW_ARRAY), visibility("hidden")));
extern void *own_new_aligned(size_t, size_t) __attribute__((alias(NEW_ALIGNED), visibility("hidden")));
extern void *own_new_array_aligned(size_t, size_t) __attribute__((alias(NEW_ARRAY_ALIGNED), visibility("hidden")));
extern void own_delete_plain(void *) __attribute__((alias("_ZdlPv"), visibility("hidden")));
extern void own_delete_array(void *) __attribute__((alias("_ZdaPv"), visibility("hidden")));

/* Where nothing is replaced, the way through the names ends here anyway: the calls are left out. */
static inline __attribute__((always_inline)) void *new_here(size_t size)
{
	void *block = QA_LIKELY_(IS_OWN(malloc, own_malloc)) ? fast_malloc(size) : malloc(size);
	return QA_LIKELY_(block != NULL) ? block : new_failed(size);
}

static inline __attribute__((always_inline)) void delete_here(void *block)
{
	if (QA_LIKELY_(IS_OWN(free, own_free)))
		fast_free(block);
	else
		free(block);
}

HOT ENTRY void *new_plain(size_t size)
{
	return new_here(size);
}

HOT ENTRY void *new_array(size_t size)
{
	return QA_LIKELY_(IS_OWN(new_plain, own_new_plain)) ? new_here(size) : new_plain(size);
}

ENTRY void *new_aligned(size_t size, size_t align)
{
	void *block = qa_aligned_alloc(align, size);
	return QA_LIKELY_(block != NULL) ? block : new_aligned_failed(size, align);
}

ENTRY void *new_array_aligned(size_t size, size_t align)
{
	return new_aligned(size, align);
}

/* A new handler, or an operator new of the program, may throw, and only the C++ library can catch that. */
static __attribute__((cold, noinline)) void *new_nothrow_by_library(const char *name, size_t size,
								    const struct nothrow *nothrow)
{
	void *(*same)(size_t, const struct nothrow *) =
		(void *(*)(size_t, const struct nothrow *))library_operator(name);
	if (same)
		return same(size, nothrow);
	return IS_OWN(new_plain, own_new_plain) ? NULL : new_plain(size);
}

static __attribute__((cold, noinline)) void *new_aligned_nothrow_by_library(const char *name, size_t size, size_t align,
									    const struct nothrow *nothrow)
{
	void *(*same)(size_t, size_t, const struct nothrow *) =
		(void *(*)(size_t, size_t, const struct nothrow *))library_operator(name);
	if (same)
		return same(size, align, nothrow);
	return IS_OWN(new_aligned, own_new_aligned) ? NULL : new_aligned(size, align);
}

/* The array form of the standard goes by new_array, which a program may have replaced as well. */
ENTRY void *new_nothrow(size_t size, const struct nothrow *nothrow)
{
	void *block = IS_OWN(new_plain, own_new_plain) ? malloc(size) : NULL;
	return QA_LIKELY_(block != NULL) ? block : new_nothrow_by_library(NEW_NOTHROW, size, nothrow);
}

ENTRY void *new_array_nothrow(size_t size, const struct nothrow *nothrow)
{
	void *block = IS_OWN(new_array, own_new_array) && IS_OWN(new_plain, own_new_plain) ? malloc(size) : NULL;
	return QA_LIKELY_(block != NULL) ? block : new_nothrow_by_library(NEW_ARRAY_NOTHROW, size, nothrow);
}

ENTRY void *new_aligned_nothrow(size_t size, size_t align, const struct nothrow *nothrow)
{
	void *block = IS_OWN(new_aligned, own_new_aligned) ? qa_aligned_alloc(align, size) : NULL;
	return QA_LIKELY_(block != NULL) ? block
					 : new_aligned_nothrow_by_library(NEW_ALIGNED_NOTHROW, size, align, nothrow);
}

ENTRY void *new_array_aligned_nothrow(size_t size, size_t align, const struct nothrow *nothrow)
{
	bool is_own = IS_OWN(new_array_aligned, own_new_array_aligned) && IS_OWN(new_aligned, own_new_aligned);
	void *block = is_own ? qa_aligned_alloc(align, size) : NULL;
	return QA_LIKELY_(block != NULL)
		       ? block
		       : new_aligned_nothrow_by_library(NEW_ARRAY_ALIGNED_NOTHROW, size, align, nothrow);
}

HOT ENTRY void delete_plain(void *block)
{
	delete_here(block);
}

HOT ENTRY void delete_array(void *block)
{
	if (QA_LIKELY_(IS_OWN(delete_plain, own_delete_plain)))
		delete_here(block);
	else
		delete_plain(block);
}

HOT ENTRY void delete_sized(void *block, size_t size)
{
	(void)size;
	if (QA_LIKELY_(IS_OWN(delete_plain, own_delete_plain)))
		delete_here(block);
	else
		delete_plain(block);
}

ENTRY void delete_array_sized(void *block, size_t size)
{
	(void)size;
	delete_array(block);
}

ENTRY void delete_nothrow(void *block, const struct nothrow *nothrow)
{
	(void)nothrow;
	delete_plain(block);
}

ENTRY void delete_array_nothrow(void *block, const struct nothrow *nothrow)
{
	(void)nothrow;
	delete_array(block);
}

ENTRY void delete_aligned(void *block, size_t align)
{
	(void)align;
	free(block);
}

ENTRY void delete_array_aligned(void *block, size_t align)
{
	delete_aligned(block, align);
}

ENTRY void delete_sized_aligned(void *block, size_t size, size_t align)
{
	(void)size;
	delete_aligned(block, align);
}

ENTRY void delete_array_sized_aligned(void *block, size_t size, size_t align)
{
	(void)size;
	delete_array_aligned(block, align);
}

ENTRY void delete_aligned_nothrow(void *block, size_t align, const struct nothrow *nothrow)
{
	(void)nothrow;
	delete_aligned(block, align);
}

ENTRY void delete_array_aligned_nothrow(void *block, size_t align, const struct nothrow *nothrow)
{
	(void)nothrow;
	delete_array_aligned(block, align);
}
