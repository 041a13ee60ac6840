/*
 * Large blocks: a buffer starts at 256 KiB, grows by half with realloc until it has 8 MiB, each new OS page written as
 * it comes, and is freed; four buffers take turns, so that one cannot always grow in place.
 */
#include "adapter.h"
#include "work.h"

#define BUFFERS 4
#define FIRST_BYTES ((size_t)256 << 10)
#define LAST_BYTES ((size_t)8 << 20)
#define OS_PAGE_BYTES 4096

struct buffer {
	char *bytes;
	size_t size;
};

static void write_pages(struct buffer *buffer, size_t from)
{
	for (size_t i = from; i < buffer->size; i += OS_PAGE_BYTES)
		((volatile char *)buffer->bytes)[i] = 1;
}

static void grow(struct buffer *buffer)
{
	size_t size = buffer->size + buffer->size / 2;
	if (size > LAST_BYTES)
		size = LAST_BYTES;
	char *bytes = (char *)adapter_realloc(buffer->bytes, buffer->size, size);
	child_check(bytes != NULL, "out of memory");
	child_check(bytes[buffer->size / 2 / OS_PAGE_BYTES * OS_PAGE_BYTES] == 1, "realloc lost what the buffer held");
	size_t from = buffer->size;
	*buffer = (struct buffer){bytes, size};
	write_pages(buffer, from);
}

static void buffers(void *context)
{
	struct buffer all[BUFFERS];
	(void)context;
	for (int i = 0; i < BUFFERS; i++) {
		all[i] = (struct buffer){(char *)adapter_alloc(FIRST_BYTES), FIRST_BYTES};
		child_check(all[i].bytes != NULL, "out of memory");
		write_pages(&all[i], 0);
	}
	while (all[BUFFERS - 1].size < LAST_BYTES) {
		for (int i = 0; i < BUFFERS; i++)
			grow(&all[i]);
	}
	for (int i = 0; i < BUFFERS; i++)
		adapter_free(all[i].bytes, all[i].size);
}

void work_large(const struct run *run, struct outcome *outcome)
{
	child_repeat(run, outcome, BUFFERS, buffers, NULL);
}
