/*
 * The map of occupancy is read from the pages' own counters: a walk over the units, as a trim does it and with its
 * lock, since only then no chunk goes away. Rows are laid out before, so that a pool that comes or goes meanwhile moves
 * none.
 */
#include <string.h>

#include "init.h"
#include "pool.h"
#include "qa.h"
#include "shared.h"
#include "size_class.h"
#include "space.h"
#include "trim_lock.h"

/* Where each class has its row; NULL: it has none. */
struct rows {
	struct qa_class_map *of[QA_CACHES_];
	size_t count;
};

static void add_row(struct rows *rows, struct qa_class_map *maps, size_t capacity, unsigned size_class,
		    const char *name)
{
	if (rows->count < capacity) {
		struct qa_class_map *map = &maps[rows->count];
		memset(map, 0, sizeof *map);
		map->block_size = size_classes[size_class].usable;
		map->empty_pages = shared_read_counts(size_class).kept_pages + space_read_empty(size_class).pages;
		memcpy(map->name, name, strlen(name));
		rows->of[size_class] = map;
	}
	rows->count++;
}

static void lay_out(struct rows *rows, struct qa_class_map *maps, size_t capacity)
{
	for (unsigned i = 1; i < QA_CLASS_POOL_; i++)
		add_row(rows, maps, capacity, i, "");
	pool_lock();
	unsigned end = size_class_end();
	for (unsigned i = QA_CLASS_POOL_; i < end; i++) {
		struct pool_row pool;
		if (pool_row(i, &pool))
			add_row(rows, maps, capacity, i, pool.name);
	}
	pool_unlock();
}

/* Of 1 to blocks blocks out: 0 is up to a tenth of them, 9 above nine tenths. */
static unsigned tenth_of(uint32_t out, uint32_t blocks)
{
	return (unsigned)(((uint64_t)out * QA_TENTHS - 1) / blocks);
}

static void add_page(struct qa_class_map *map, const struct shared_page *page)
{
	unsigned tenth = tenth_of(page->out_blocks, page->page_blocks);
	map->pages += page->span_pages;
	map->tenth_pages[tenth] += page->span_pages;
	map->tenth_out_bytes[tenth] += page->out_blocks * map->block_size;
	map->tenth_free_bytes[tenth] += page->free_blocks * map->block_size;
}

size_t qa_map(struct qa_class_map *maps, size_t capacity)
{
	struct rows rows = {0};
	struct space_cursor cursor = {0};
	init_ensure();
	lay_out(&rows, maps, capacity);
	trim_lock();
	for (char *unit; space_next_unit(&cursor, &unit);) {
		struct shared_page page = shared_read_page(unit);
		if (page.span_pages == 0)
			continue;
		if (rows.of[page.size_class])
			add_page(rows.of[page.size_class], &page);
		trim_give_way();
	}
	trim_unlock();
	return rows.count;
}
