/*
 * The tenths are three arrays of ten numbers; another length would be another protocol.
 */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "json.h"
#include "output.h"

static void read_tenths(struct qp_reader *reader, const char *key, uint64_t values[MAP_TENTHS])
{
	size_t count;
	const msgpack_object *elements = qp_read_array(reader, key, &count);

	if (count != MAP_TENTHS && !reader->bad)
		reader->bad = key;
	for (size_t i = 0; !reader->bad && i < MAP_TENTHS; i++) {
		if (elements[i].type == MSGPACK_OBJECT_POSITIVE_INTEGER)
			values[i] = elements[i].via.u64;
		else
			reader->bad = key;
	}
}

static int read_class(const msgpack_object *object, struct map_class *row)
{
	struct qp_reader reader = qp_reader_of(object);

	row->block_size = qp_read_u64(&reader, "block_size");
	qp_read_string_or(&reader, "name", row->name, sizeof(row->name), "");
	row->pages = qp_read_u64(&reader, "pages");
	row->empty_pages = qp_read_u64(&reader, "empty_pages");
	read_tenths(&reader, "tenth_pages", row->tenth_pages);
	read_tenths(&reader, "tenth_out_bytes", row->tenth_out_bytes);
	read_tenths(&reader, "tenth_free_bytes", row->tenth_free_bytes);
	return reader.bad ? answer_fail(&reader) : 0;
}

static int by_size(const void *left, const void *right)
{
	const struct map_class *a = left, *b = right;

	if (a->block_size != b->block_size)
		return a->block_size < b->block_size ? -1 : 1;
	return strcmp(a->name, b->name);
}

int map_read(struct map *map, const msgpack_object *object, uint64_t block_size)
{
	struct qp_reader reader = qp_reader_of(object);
	size_t count;
	const msgpack_object *rows;
	int status = 0;

	target_read(&reader, &map->target);
	map->page_size = qp_read_u64(&reader, "page_size");
	rows = qp_read_array(&reader, "classes", &count);
	if (reader.bad)
		return answer_fail(&reader);
	map->classes = calloc(count ? count : 1, sizeof(*map->classes));
	if (!map->classes)
		return output_no_memory();
	for (size_t i = 0; status == 0 && i < count; i++) {
		struct map_class *row = &map->classes[map->count];

		status = read_class(&rows[i], row);
		map->count += block_size == 0 || row->block_size == block_size;
	}
	qsort(map->classes, map->count, sizeof(*map->classes), by_size);
	return status;
}

void map_finish(struct map *map)
{
	free(map->classes);
	target_finish(&map->target);
}

static json_t *tenths_to_json(const uint64_t values[MAP_TENTHS])
{
	json_t *array = json_array();

	for (size_t i = 0; i < MAP_TENTHS; i++)
		json_array_append_new(array, json_from_u64(values[i]));
	return array;
}

json_t *map_to_json(const struct map *map)
{
	json_t *object = json_object(), *classes = json_array();

	json_object_set_new(object, "pid", json_from_u64(map->target.pid));
	json_object_set_new(object, "uid", json_from_u64(map->target.uid));
	json_object_set_new(object, "command", json_from_text(map->target.command));
	json_object_set_new(object, "name", json_from_text(map->target.name));
	json_object_set_new(object, "page_size", json_from_u64(map->page_size));
	for (size_t i = 0; i < map->count; i++) {
		const struct map_class *row = &map->classes[i];
		json_t *class = json_object();

		json_object_set_new(class, "block_size", json_from_u64(row->block_size));
		json_object_set_new(class, "name", json_from_text(row->name));
		json_object_set_new(class, "pages", json_from_u64(row->pages));
		json_object_set_new(class, "empty_pages", json_from_u64(row->empty_pages));
		json_object_set_new(class, "tenth_pages", tenths_to_json(row->tenth_pages));
		json_object_set_new(class, "tenth_out_bytes", tenths_to_json(row->tenth_out_bytes));
		json_object_set_new(class, "tenth_free_bytes", tenths_to_json(row->tenth_free_bytes));
		json_array_append_new(classes, class);
	}
	json_object_set_new(object, "classes", classes);
	return object;
}
