/*
 * qa.h - libqa, a pool allocator whose holdings can be seen and taken back from outside while it runs.
 *
 * Two families of calls that share one heap:
 *
 *   sized    qa_alloc(size, align) / qa_dealloc(p, size, align). With a constant size of at most QA_INLINE_MAX both
 *            are inline: a few instructions, no call, no lock.
 *   malloc   qa_malloc, qa_calloc, qa_realloc, qa_aligned_alloc / qa_free, qa_free_sized: as glibc's.
 *
 * A block of either family may be freed by any thread, and by qa_free. qa_dealloc must be told the size and alignment
 * that qa_alloc was told; qa_free_sized the size that qa_malloc or qa_calloc was told.
 *
 * Words (the same in the protocol, the tables and the metrics):
 *
 *   page     the unit, of QA_PAGE_SIZE bytes, in which libqa takes memory from the OS and gives it back
 *   held     bytes of the pages that a size class has from the OS, less what was given back inside them
 *   used     bytes of the blocks that the program has now, by their block size
 *   cached   held - used = thread + partial + empty + slack:
 *            thread: free blocks in thread caches and between threads; partial: free blocks in pages that also
 *            have used ones; empty: pages without a used block, and large blocks that were freed and are kept;
 *            slack: page bytes that no block covers
 *
 * Threads: every call may be made from any thread at any time, also while static objects are destroyed and after
 * thread-local storage is gone. None may be made from a signal handler. libqa is never torn down.
 *
 * Settings come from the environment (qa_set changes them before the first allocation); see qa_set.
 * C11 and C++11, gcc and clang, Linux.
 */
#ifndef QA_H
#define QA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#ifdef __cplusplus
/* Of shadowing: struct qa_stats and qa_stats() are two things, as struct stat and stat(). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#define QA_VERSION_MAJOR 0
#define QA_VERSION_MINOR 1
#define QA_VERSION_PATCH 0

/* Calls go straight to the library, where the compiler can, and not through a stub that finds it. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define QA_NOPLT_ __attribute__((noplt))
#endif
#endif
#ifndef QA_NOPLT_
#define QA_NOPLT_
#endif

/* The version of the library that runs, such as "0.1.0". */
const char *qa_version(void);

/*
 * Sized allocation.
 *
 * qa_alloc: a block of at least size bytes, aligned to align (a power of two). An alignment of 8 or less has classes of
 * its own, so that 24 bytes cost 24 bytes. NULL and errno ENOMEM when memory is out or size is above PTRDIFF_MAX,
 * EINVAL when align is not a power of two. Size 0 gives a block of its own.
 *
 * qa_dealloc: NULL is allowed. errno is kept.
 *
 * Cost: inline when the thread's cache has a block, or room; else a batch moves, under the lock of one class at most,
 * and one time in many a mapping is made. libqa(3) has the cost of each function.
 */
static inline void *qa_alloc(size_t size, size_t align);
static inline void qa_dealloc(void *block, size_t size, size_t align);

/*
 * The malloc family: semantics and errno of glibc's; blocks are aligned to 16. qa_realloc(p, 0) frees p and returns
 * NULL. Those that free keep errno. Cost: as above, and a look at the address's entry in a table; a mapping of its own
 * for each block above 32 KiB.
 */
QA_NOPLT_ void *qa_malloc(size_t size) __attribute__((malloc, alloc_size(1)));
QA_NOPLT_ void *qa_calloc(size_t count, size_t size) __attribute__((malloc, alloc_size(1, 2)));
QA_NOPLT_ void *qa_realloc(void *block, size_t size) __attribute__((alloc_size(2)));
void *qa_aligned_alloc(size_t align, size_t size) __attribute__((malloc, alloc_align(1), alloc_size(2)));
QA_NOPLT_ void qa_free(void *block);
QA_NOPLT_ void qa_free_sized(void *block, size_t size);
/* Bytes that may be used of a block of either family; 0 for NULL. */
size_t qa_usable_size(const void *block);

/*
 * Named pools: objects known by name, not only by size. A pool has pages of its own, and a row with its name in the
 * statistics; allocation and free are inline, as fast as those of a size that the compiler knows. Trim takes pools
 * along.
 *
 * qa_pool_create: name of 1 to 64 bytes, not in use by another pool; size of 1 to QA_POOL_BLOCK_MAX bytes; align a
 * power of two up to 4096 (below 8 it counts as 8). NULL and errno: EINVAL, EEXIST, or ENOSPC when there are
 * QA_POOLS_MAX. The pool lives until it is destroyed or the process ends. qa_pool_alloc: a block, or NULL and ENOMEM.
 * qa_pool_free: a block of that pool, or NULL; qa_free takes it, too. qa_pool_destroy: 0, or -EBUSY and nothing changed
 * when a block of the pool is still allocated (or sits in the cache of another thread that can not be reached, see
 * qa_trim). NULL is allowed. No other thread may use it meanwhile. Creating costs O(threads), destroying as much as a
 * trim of that pool; both wait while another thread trims.
 */
#define QA_POOL_BLOCK_MAX (32u << 10)

struct qa_pool {
	unsigned class_;
};

struct qa_pool *qa_pool_create(const char *name, size_t size, size_t align);
int qa_pool_destroy(struct qa_pool *pool);
static inline void *qa_pool_alloc(struct qa_pool *pool);
static inline void qa_pool_free(struct qa_pool *pool, void *block);

/*
 * Statistics: of one size class, and of the whole process. All in bytes or counts; words as above. In every row and in
 * total held = used + cached and cached = thread + partial + empty + slack, exactly. The split is exact while no thread
 * is inside libqa; otherwise off by the operations in flight, never negative. Takes no lock of the
 * allocator and delays nobody; costs O(classes x threads).
 */
#define QA_CLASS_NAME_SIZE 65

struct qa_class_stats {
	uint64_t block_size;           /* 0: all blocks above the largest class */
	char name[QA_CLASS_NAME_SIZE]; /* of a named pool; "" for a size class */
	uint64_t pages;                /* in units of page_size; 0 in the row for blocks above the largest class */
	uint64_t held_bytes, used_bytes, cached_bytes;
	uint64_t thread_bytes, partial_bytes, empty_bytes, slack_bytes;
	uint64_t used_blocks;
	uint64_t allocs, frees; /* since the process started (the pool was made) */
};

struct qa_stats {
	uint64_t page_size;
	uint64_t threads; /* that have a cache now */
	uint64_t held_bytes, used_bytes, cached_bytes;
	uint64_t thread_bytes, partial_bytes, empty_bytes, slack_bytes;
	uint64_t unreachable_bytes; /* part of thread_bytes that another thread's trim can not take, see qa_trim */
	uint64_t allocs, frees;
};

/*
 * Fills *stats, and up to capacity rows of *classes: the size classes by block size, the named pools, last the row for
 * blocks above the largest class. Returns how many rows there are (a constant while no pool is made or destroyed; at
 * most QA_STATS_ROWS_MAX; classes may be NULL with capacity 0).
 */
#define QA_STATS_ROWS_MAX 256

size_t qa_stats(struct qa_stats *stats, struct qa_class_stats *classes, size_t capacity);

/*
 * How full the pages of each class are: why memory can not come back. Pages are sorted by how many of their blocks are
 * out, in tenths: up to 10 %, up to 20 % ... up to 100 %. A block that is out is used, or in a thread's cache until
 * the next trim; a page without one is empty. While no thread is inside libqa, the sum of tenth_free_bytes is
 * the class's partial_bytes.
 *
 * Fills up to capacity rows, in the order of qa_stats without its last one, and returns how many there are. Reads each
 * page's own counters, no block: O(pages), each for a moment under the lock of its class; waits while another thread
 * trims.
 */
#define QA_TENTHS 10

struct qa_class_map {
	uint64_t block_size;
	char name[QA_CLASS_NAME_SIZE]; /* of a named pool; "" for a size class */
	uint64_t pages, empty_pages;   /* with a block out, without one; in units of page_size */
	uint64_t tenth_pages[QA_TENTHS];
	uint64_t tenth_out_bytes[QA_TENTHS];  /* of blocks out */
	uint64_t tenth_free_bytes[QA_TENTHS]; /* of blocks that are held and not out */
};

size_t qa_map(struct qa_class_map *maps, size_t capacity);

/*
 * Trim: takes back what the caches of all threads hold, also of threads that sleep in a system call, and returns every
 * empty page and every kept large block to the OS, and of other pages the OS pages without a byte of a used block.
 * Other threads go on meanwhile: no lock that they take is held while the kernel works.
 *
 * A cache whose owner was inside libqa at every look is left, and counted in threads_skipped. Where the kernel refuses
 * membarrier(2), other threads' caches can not be taken: their owners return them at their next miss.
 *
 * It can be told to look at one size class (by its block size) or one named pool only, and to leave some of what is
 * cached there: never less than keep_bytes stays cached, as far as that much was.
 * Returns 0, or a negative errno (-EINVAL: options not understood; -ENOENT: no such class or pool). result may be NULL;
 * its held and cached bytes are those of that class or pool, or of the whole process. Costs about the kernel's own time
 * to take what goes back; one trim at a time, a second waits.
 */
struct qa_trim_options {
	uint32_t size;       /* sizeof(struct qa_trim_options) of the caller; members beyond it count as 0 */
	uint32_t flags;      /* 0 */
	uint64_t block_size; /* of a size class; 0: all */
	const char *pool;    /* the name of a pool; NULL: all. Not together with block_size */
	uint64_t keep_bytes;
};

struct qa_trim_result {
	uint64_t returned_bytes;
	uint64_t held_before_bytes, held_after_bytes;
	uint64_t cached_before_bytes, cached_after_bytes;
	uint64_t duration_us;
	uint64_t threads_skipped;
};

int qa_trim(const struct qa_trim_options *options, struct qa_trim_result *result);

/*
 * The agent: one thread, named qa-agent, that answers qad. It is started when the library is loaded and after fork,
 * unless QA_AGENT is off or the program is set-user-ID. All signals are blocked in it; it never prints.
 *
 * qa_agent_start: starts it when it is not running. 0, or a negative errno (-EAGAIN: no thread could be made; -EPERM:
 * set-user-ID; -ENAMETOOLONG: QAD_SOCKET).
 *
 * qa_agent_stop: ends it and its connection, and waits until the thread is gone (and done with a trim); needed by a
 * program that calls setns(2) or unshare(2) where they demand a single thread. It stays off, in forked children too,
 * until qa_agent_start.
 *
 * Neither may be called from a fork handler.
 */
int qa_agent_start(void);
void qa_agent_stop(void);

/*
 * Settings, by name and text as in the environment; must come before the first allocation or statistics (QA_NAME:
 * before the agent connects). Returns 0; -EINVAL: no such setting or value; -EBUSY: too late.
 * A wrong value in the environment is told in one line on stderr and the default used.
 *
 *   QA_AGENT         on, off        default on; off in the environment, or qa_agent_stop, ends it
 *   QA_PAGE_SIZE     4KiB ... 4MiB  default 64KiB; a power of two, in bytes or with K, KiB, M or MiB
 *   QA_THREAD_CACHE  0 ... 1024MiB  default 2MiB: what one thread may cache; of more than 32 threads each gets less
 *   QA_LARGE_CACHE   0 ... 1024MiB  default 16MiB: what is kept of freed blocks above 32 KiB, for the next ones
 *   QA_CHECK         1, on, 0, off  on: guarded blocks, see libqa(3); default on under ASan and Valgrind, else off
 *   QA_NAME          1 to 64 bytes  a label that qactl shows
 */
int qa_set(const char *setting, const char *value);

#include "qa_inline.h"

#pragma GCC visibility pop
#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif
#endif
