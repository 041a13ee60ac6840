/*
 * Figures that no library has: each value is another one, so that a test sees where it went.
 */
#include "made_up_library.h"

#include <string.h>

#include "options.h"
#include "test.h"

struct made_up made_up;

const char *qa_version(void)
{
	return "9.8.7";
}

const char *options_name(void)
{
	return "a name";
}

struct qa_class_stats made_up_row(size_t i)
{
	struct qa_class_stats row = {
		.block_size = 16 * (i + 1),
		.pages = i % 3,
		.held_bytes = (i % 3) * 65536,
		.used_bytes = i * 7 + 1,
		.cached_bytes = i * 7 + 2,
		.thread_bytes = i * 7 + 3,
		.partial_bytes = i * 7 + 4,
		.empty_bytes = i * 7 + 5,
		.slack_bytes = i * 7 + 6,
		.used_blocks = i * 7 + 7,
		.allocs = UINT64_MAX - i,
		.frees = i * 7 + 8,
	};

	if (i == 4)
		memset(row.name, 'n', QA_CLASS_NAME_SIZE - 1);
	return row;
}

size_t qa_stats(struct qa_stats *stats, struct qa_class_stats *classes, size_t capacity)
{
	made_up.stats_calls++;
	*stats = (struct qa_stats){
		.page_size = 101,
		.threads = 102,
		.held_bytes = 103,
		.used_bytes = 104,
		.cached_bytes = 105,
		.thread_bytes = 106,
		.partial_bytes = 107,
		.empty_bytes = 108,
		.slack_bytes = 109,
		.unreachable_bytes = 110,
		.allocs = 111,
		.frees = 112,
	};
	assert_true(capacity == 0 || classes != NULL);
	for (size_t i = 0; i < made_up.row_count && i < capacity; i++)
		classes[i] = made_up_row(i);
	return made_up.row_count;
}

/* Two classes that hold pages and one that does not. */
size_t qa_map(struct qa_class_map *maps, size_t capacity)
{
	assert_true(capacity >= 3);
	memset(maps, 0, 3 * sizeof(*maps));
	for (uint64_t i = 0; i < 3; i++) {
		maps[i].block_size = 300 + i;
		maps[i].pages = i == 0 ? 7 : 0;
		maps[i].empty_pages = i == 2 ? 8 : 0;
		for (uint64_t tenth = 0; tenth < QA_TENTHS; tenth++) {
			maps[i].tenth_pages[tenth] = 1000 * i + tenth;
			maps[i].tenth_out_bytes[tenth] = 1000 * i + 100 + tenth;
			maps[i].tenth_free_bytes[tenth] = UINT64_MAX - tenth;
		}
	}
	strcpy(maps[2].name, "pool");
	return 3;
}

int qa_trim(const struct qa_trim_options *options, struct qa_trim_result *result)
{
	made_up.trim_calls++;
	assert_int_equal(options->size, sizeof(*options));
	assert_int_equal(options->flags, 0);
	made_up.trim_options = *options;
	strcpy(made_up.trim_pool, options->pool != NULL ? options->pool : "(none)");
	*result = (struct qa_trim_result){
		.returned_bytes = 201,
		.held_before_bytes = 202,
		.held_after_bytes = 203,
		.cached_before_bytes = 204,
		.cached_after_bytes = 205,
		.duration_us = 206,
		.threads_skipped = 207,
	};
	return made_up.trim_error;
}
