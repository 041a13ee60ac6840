/*
 * Trim goes the way of the blocks: out of the thread caches, then out of the slots between threads, into their pages;
 * then the pages that became empty go back to the OS. A heap is stopped only while its lists are unhooked, some hundred
 * instructions; the blocks are given to the pages after its owner may go on.
 */
#include <errno.h>
#include <string.h>

#include "bits.h"
#include "drain.h"
#include "init.h"
#include "keep.h"
#include "large.h"
#include "os.h"
#include "page_map.h"
#include "pool.h"
#include "returns.h"
#include "shared.h"
#include "size_class.h"
#include "space.h"
#include "stats_class.h"
#include "trim_lock.h"

/* What a trim is about: one class, or all of them (0), and how much of it may go back at most. */
struct scope {
	unsigned size_class;
	uint64_t most_bytes;
};

struct cached {
	uint64_t held_bytes, cached_bytes;
};

/* Not with trim's lock: the names of pools have a lock that comes before it. */
static struct cached read_cached(const struct scope *scope)
{
	struct qa_class_stats row;
	struct qa_stats stats;
	if (scope->size_class != 0) {
		pool_lock();
		stats_fill_class(&row, scope->size_class);
		pool_unlock();
		return (struct cached){row.held_bytes, row.cached_bytes};
	}
	qa_stats(&stats, NULL, 0);
	return (struct cached){stats.held_bytes, stats.cached_bytes};
}

/*
 * Which pages of a chunk are looked into: those of the scope's class. One that has more bytes than may go is left as
 * it is.
 */
static bool is_wanted(const struct scope *scope, const char *unit, uint64_t most_bytes)
{
	unsigned kind = page_map_kind(unit);
	if (kind == QA_CLASS_NONE_ || kind == QA_CLASS_LARGE_ || (scope->size_class != 0 && kind != scope->size_class))
		return false;
	return (uint64_t)size_classes[kind].span_pages * space_page_size_bytes() <= most_bytes;
}

/*
 * Of one chunk: its empty pages, if they were collected, and of its partly used ones what no block that is out has a
 * byte of (most_bytes at most, in whole pages), together, so that neighbours go in one call.
 */
static uint64_t return_chunk(const struct scope *scope, struct chunk *chunk, bool has_empty, uint64_t most_bytes)
{
	struct returns returns;
	uint64_t walked[SPACE_CHUNK_WORDS] = {0}, returned_bytes = 0;
	char *base = space_chunk_base(chunk);
	uint32_t page_size = space_page_size_bytes();
	returns_init(&returns, base);
	if (has_empty)
		space_return_add(chunk, &returns);
	for (uint32_t i = 0; i < space_chunk_units(); i++) {
		const char *unit = base + (size_t)i * page_size;
		if (!is_wanted(scope, unit, most_bytes) || !shared_walk_begin(unit, &returns))
			continue;
		bits_change(walked, i, i + 1, true);
		most_bytes -= (uint64_t)size_classes[page_map_kind(unit)].span_pages * page_size;
	}
	returns_run(&returns, page_size);
	for (uint32_t i = 0; i < space_chunk_units(); i++)
		if (bits_get(walked, i))
			returned_bytes += shared_walk_end(base + (size_t)i * page_size, &returns);
	if (has_empty)
		returned_bytes += space_return_settle(chunk, &returns);
	return returned_bytes;
}

/* The chunks without an empty page that goes. */
static uint64_t return_inside(const struct scope *scope)
{
	uint64_t returned_bytes = 0;
	for (struct chunk *chunk = NULL; (chunk = space_next_chunk(chunk)) != NULL;) {
		returned_bytes += return_chunk(scope, chunk, false, scope->most_bytes - returned_bytes);
		trim_give_way();
	}
	return returned_bytes;
}

/*
 * With most_inside_bytes of partly used pages beside. May return more than the scope has, when others left some to it.
 */
static uint64_t return_empty(const struct scope *scope, uint64_t most_inside_bytes)
{
	uint64_t returned_bytes = 0;
	struct chunk *chunk;
	space_collect_empty(scope->size_class, scope->most_bytes);
	while ((chunk = space_return_take()) != NULL) {
		if (!space_return_whole(chunk, &returned_bytes))
			returned_bytes += return_chunk(scope, chunk, true, most_inside_bytes);
		trim_give_way();
	}
	return returned_bytes;
}

static void reduce(struct scope *scope, uint64_t returned_bytes)
{
	scope->most_bytes -= returned_bytes < scope->most_bytes ? returned_bytes : scope->most_bytes;
}

static uint64_t drain(unsigned size_class)
{
	if (size_class != 0) {
		uint64_t skipped = drain_class(size_class, false);
		shared_release_kept(size_class);
		return skipped;
	}
	uint64_t skipped = drain_heaps();
	drain_transfers();
	unsigned end = size_class_end();
	for (unsigned i = 1; i < end; i++)
		shared_release_kept(i);
	return skipped;
}

/*
 * Mappings that are kept go first, and when some has to stay, the pages that wait empty: caches are left alone if that
 * is enough.
 */
static uint64_t trim_scope(const struct scope *whole, uint64_t *threads_skipped)
{
	struct scope scope = *whole;
	bool is_limited = scope.most_bytes != UINT64_MAX;
	uint64_t returned_bytes = scope.size_class == 0 ? keep_release(scope.most_bytes) : 0;
	reduce(&scope, returned_bytes);
	if (is_limited) {
		uint64_t empty_bytes = return_empty(&scope, 0);
		reduce(&scope, empty_bytes);
		returned_bytes += empty_bytes;
	}
	if (scope.most_bytes < os_page_bytes())
		return returned_bytes;
	*threads_skipped = drain(scope.size_class);
	uint64_t empty_bytes = return_empty(&scope, is_limited ? 0 : UINT64_MAX);
	reduce(&scope, empty_bytes);
	uint64_t slack_bytes = scope.size_class == 0 ? large_return_slack(scope.most_bytes) : 0;
	reduce(&scope, slack_bytes);
	return returned_bytes + empty_bytes + slack_bytes + return_inside(&scope);
}

/* The size class with blocks of just that size; 0: there is none. */
static unsigned find_class(uint64_t block_size)
{
	for (unsigned i = 1; i < QA_CLASS_POOL_; i++)
		if (size_classes[i].block_size == block_size)
			return i;
	return 0;
}

/* The options as this version knows them. Of a later one, only those that mean nothing here are understood. */
static int read_options(const struct qa_trim_options *given, struct qa_trim_options *options)
{
	*options = (struct qa_trim_options){0};
	if (!given)
		return 0;
	if (given->size < offsetof(struct qa_trim_options, block_size))
		return -EINVAL;
	for (size_t i = sizeof *options; i < given->size; i++)
		if (((const char *)given)[i] != 0)
			return -EINVAL;
	memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
	return options->flags != 0 || (options->pool && options->block_size != 0) ? -EINVAL : 0;
}

static int find_scope(const struct qa_trim_options *options, struct scope *scope)
{
	*scope = (struct scope){.most_bytes = UINT64_MAX};
	if (options->pool)
		scope->size_class = pool_find(options->pool);
	else if (options->block_size != 0)
		scope->size_class = find_class(options->block_size);
	return scope->size_class == 0 && (options->pool || options->block_size != 0) ? -ENOENT : 0;
}

int qa_trim(const struct qa_trim_options *given, struct qa_trim_result *result)
{
	int saved = errno;
	struct qa_trim_options options;
	struct qa_trim_result done = {0};
	struct scope scope;
	uint64_t start_us = os_clock_us();
	init_ensure();
	int error = read_options(given, &options);
	if (error == 0)
		error = find_scope(&options, &scope);
	if (error != 0)
		return error;
	/* Outside of the lock: they take that of the pools, which comes before it. */
	struct cached before = read_cached(&scope);
	if (options.keep_bytes > 0)
		scope.most_bytes =
			before.cached_bytes > options.keep_bytes ? before.cached_bytes - options.keep_bytes : 0;
	trim_lock();
	done.returned_bytes = trim_scope(&scope, &done.threads_skipped);
	trim_unlock();
	struct cached after = read_cached(&scope);
	done.held_before_bytes = before.held_bytes;
	done.held_after_bytes = after.held_bytes;
	done.cached_before_bytes = before.cached_bytes;
	done.cached_after_bytes = after.cached_bytes;
	done.duration_us = os_clock_us() - start_us;
	if (result)
		*result = done;
	errno = saved;
	return 0;
}
