/*
 * What a program can see of the malloc family: prints one line for each thing that is asked, in words that do not
 * depend on the allocator. test_malloc.py runs it on glibc's malloc and on libqa_malloc.so and compares.
 *
 * Sizes and pointers are hidden from the compiler, which knows malloc and would decide some questions by itself.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRESH = 12345 };

static size_t hide(size_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

static void *hide_block(void *block)
{
	__asm__ volatile("" : "+r"(block));
	return block;
}

static const char *name_of(int error)
{
	switch (error) {
	case FRESH:
		return "kept";
	case ENOMEM:
		return "ENOMEM";
	case EINVAL:
		return "EINVAL";
	case 0:
		return "0";
	default:
		return "another";
	}
}

/* Whether there is a block, aligned, with room for size bytes that can be written; frees it. */
static void show(const char *what, void *block, size_t size, size_t align)
{
	int error = errno;
	block = hide_block(block);
	if (!block) {
		printf("%s: NULL, errno %s\n", what, name_of(error));
	} else {
		bool has_room = malloc_usable_size(block) >= size;
		memset(block, 0xa5, malloc_usable_size(block));
		printf("%s: a block, %s, %s\n", what, (uintptr_t)block % align == 0 ? "aligned" : "not aligned",
		       has_room ? "with room" : "too small");
		free(block);
	}
	errno = FRESH;
}

static void sizes(void)
{
	static const size_t some[] = {0, 1, 15, 16, 17, 24, 100, 1000, 1024, 1025, 4096, 32768, 32769, 100000, 5000000};
	char what[64];
	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		snprintf(what, sizeof what, "malloc(%zu)", some[i]);
		show(what, malloc(hide(some[i])), some[i], 16);
		snprintf(what, sizeof what, "calloc(1, %zu)", some[i]);
		show(what, calloc(1, hide(some[i])), some[i], 16);
		snprintf(what, sizeof what, "realloc(NULL, %zu)", some[i]);
		show(what, realloc(NULL, hide(some[i])), some[i], 16);
	}
	void *one = hide_block(malloc(hide(0))), *two = hide_block(malloc(hide(0)));
	printf("two of malloc(0) differ: %d\n", one != two);
	free(one);
	free(two);
}

static void too_much(void)
{
	errno = FRESH;
	show("malloc(PTRDIFF_MAX + 1)", malloc(hide((size_t)PTRDIFF_MAX + 1)), 0, 16);
	show("malloc(SIZE_MAX)", malloc(hide(SIZE_MAX)), 0, 16);
	show("malloc(SIZE_MAX - 100)", malloc(hide(SIZE_MAX - 100)), 0, 16);
	show("calloc overflow", calloc(hide(SIZE_MAX / 2), hide(3)), 0, 16);
	show("calloc(SIZE_MAX, 1)", calloc(hide(SIZE_MAX), hide(1)), 0, 16);
	show("calloc(0, SIZE_MAX)", calloc(hide(0), hide(SIZE_MAX)), 0, 16);
	show("reallocarray overflow", reallocarray(NULL, hide(SIZE_MAX / 2), hide(3)), 0, 16);
	show("reallocarray(NULL, 3, 5)", reallocarray(NULL, hide(3), hide(5)), 15, 16);
	show("memalign too much", memalign(64, hide(SIZE_MAX - 64)), 0, 16);
	show("memalign of an alignment above half", memalign(hide(SIZE_MAX / 2 + 2), hide(1)), 0, 16);
	show("valloc too much", valloc(hide(SIZE_MAX - 10)), 0, 16);
	show("pvalloc too much", pvalloc(hide(SIZE_MAX - 10)), 0, 16);
}

static void failed_realloc_keeps_the_block(void)
{
	static const size_t some[] = {50, 5000, 500000};
	for (size_t i = 0; i < 3; i++) {
		char *block = malloc(some[i]);
		memset(block, 7, some[i]);
		errno = FRESH;
		void *moved = hide_block(realloc(block, hide(SIZE_MAX - 4096)));
		printf("realloc of %zu to too much: %s, errno %s, byte %d\n", some[i], moved ? "a block" : "NULL",
		       name_of(errno), block[some[i] - 1]);
		errno = FRESH;
		moved = hide_block(reallocarray(block, hide(SIZE_MAX / 4), hide(5)));
		printf("reallocarray of %zu: %s, errno %s, byte %d\n", some[i], moved ? "a block" : "NULL",
		       name_of(errno), block[0]);
		errno = FRESH;
		moved = hide_block(realloc(block, hide(0)));
		printf("realloc(%zu bytes, 0): %s, errno %s\n", some[i], moved ? "a block" : "NULL", name_of(errno));
	}
	errno = FRESH;
	printf("reallocarray(p, 0, 8): %s\n",
	       hide_block(reallocarray(malloc(8), hide(0), hide(8))) ? "a block" : "NULL");
}

static bool has_pattern(const unsigned char *block, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (block[i] != (unsigned char)(i * 31 + 7))
			return false;
	return true;
}

/* Up and down through all kinds of sizes; what fits both sizes is kept. */
static void realloc_keeps_bytes(void)
{
	static const size_t some[] = {1,     24,    33,     500,     480,   250,   1024, 1030,
				      30000, 40000, 200000, 3000000, 90000, 33000, 700,  8};
	unsigned char *block = NULL;
	size_t before = 0, wrong = 0, unaligned = 0;
	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		block = realloc(block, hide(some[i]));
		wrong += !has_pattern(block, before < some[i] ? before : some[i]);
		unaligned += (uintptr_t)block % 16 != 0;
		for (size_t byte = 0; byte < some[i]; byte++)
			block[byte] = (unsigned char)(byte * 31 + 7);
		before = some[i];
	}
	free(block);
	printf("realloc up and down: %zu wrong, %zu not aligned\n", wrong, unaligned);
}

static void calloc_is_zero(void)
{
	size_t wrong = 0;
	for (size_t size = 1; size < 300000; size = size * 3 / 2 + 1) {
		for (int round = 0; round < 3; round++) {
			unsigned char *block = malloc(hide(size));
			memset(block, 0xff, size);
			free(block);
			block = calloc(hide(size), 1);
			for (size_t i = 0; i < size; i++)
				wrong += block[i] != 0;
			memset(block, 0xee, size);
			free(block);
		}
	}
	printf("calloc: %zu bytes are not zero\n", wrong);
}

static void aligned(void)
{
	char what[64];
	for (size_t align = 1; align <= 4 << 20; align *= 2) {
		size_t size = align == 1 ? 1 : align * 3 / 2;
		void *block = NULL;
		snprintf(what, sizeof what, "aligned_alloc(%zu, %zu)", align, size);
		show(what, aligned_alloc(hide(align), hide(size)), size, align);
		snprintf(what, sizeof what, "memalign(%zu, 40)", align);
		show(what, memalign(hide(align), hide(40)), 40, align);
		int error = posix_memalign(&block, hide(align), hide(100));
		snprintf(what, sizeof what, "posix_memalign(%zu, 100) %s", align, name_of(error));
		show(what, block, 100, align);
	}
	show("memalign(0, 10)", memalign(hide(0), hide(10)), 10, 16);
	show("memalign(48, 10)", memalign(hide(48), hide(10)), 10, 64);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	show("valloc(0)", valloc(hide(0)), 0, page);
	show("valloc(10)", valloc(hide(10)), 10, page);
	show("pvalloc(0)", pvalloc(hide(0)), 0, page);
	show("pvalloc(10)", pvalloc(hide(10)), page, page);
	show("pvalloc(page + 1)", pvalloc(hide(page + 1)), 2 * page, page);
}

static void posix_memalign_refuses(void)
{
	static const size_t wrong[] = {0, 1, 2, 4, 12, 24, 100};
	void *const untouched = &posix_memalign_refuses;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		void *block = untouched;
		int error = posix_memalign(&block, hide(wrong[i]), hide(10));
		printf("posix_memalign(%zu): %s, the pointer is %s\n", wrong[i], name_of(error),
		       block == untouched ? "untouched" : "changed");
	}
	void *block = untouched;
	int error = posix_memalign(&block, 64, hide(SIZE_MAX - 64));
	printf("posix_memalign of too much: %s, the pointer is %s\n", name_of(error),
	       block == untouched ? "untouched" : "changed");
}

static void errno_is_kept_by_free(void)
{
	void *small = malloc(hide(10)), *middle = malloc(hide(20000)), *large = malloc(hide(9000000));
	errno = FRESH;
	free(small);
	free(middle);
	free(large);
	free(hide_block(NULL));
	printf("free: errno %s\n", name_of(errno));
}

static void others(void)
{
	char *text = NULL;
	size_t bytes = 0;
	printf("malloc_usable_size(NULL): %zu\n", malloc_usable_size(hide_block(NULL)));
	printf("mallopt: %d %d\n", mallopt(M_MMAP_THRESHOLD, 1 << 20), mallopt(M_ARENA_MAX, 1));
	FILE *out = open_memstream(&text, &bytes);
	printf("malloc_info(1): %s\n", name_of(malloc_info(1, out)));
	printf("malloc_info(0): %s\n", name_of(malloc_info(0, out)));
	fclose(out);
	bool is_whole = strncmp(text, "<malloc version=\"1\">\n", 21) == 0 &&
			strstr(text, "<system type=\"current\"") && strcmp(text + bytes - 10, "</malloc>\n") == 0;
	printf("malloc_info is %s\n", is_whole ? "whole" : "not whole");
	free(text);
	void *block = malloc(hide(48 << 20));
	struct mallinfo2 info = mallinfo2();
	printf("mallinfo2: a large block %s\n", info.hblkhd >= 48 << 20 && info.hblks >= 1 ? "is seen" : "is not seen");
	free(block);
	size_t used = mallinfo2().uordblks;
	block = malloc(hide(2000));
	printf("mallinfo2: 2000 bytes more used: %d\n", mallinfo2().uordblks >= used + 2000);
	free(block);
}

int main(void)
{
	errno = FRESH;
	sizes();
	too_much();
	failed_realloc_keeps_the_block();
	realloc_keeps_bytes();
	calloc_is_zero();
	errno = FRESH;
	aligned();
	posix_memalign_refuses();
	errno_is_kept_by_free();
	others();
	return 0;
}
