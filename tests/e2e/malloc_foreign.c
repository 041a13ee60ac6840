/*
 * Gives a block of another allocator to free, realloc or malloc_usable_size: one of libc's malloc that a plugin opened
 * with RTLD_DEEPBIND got, an address of the program's data, or the middle of a block. Must not return from it.
 *
 * usage: malloc_foreign deepbind|static|middle|freed free|realloc|usable PLUGIN
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char data[256];

static char *foreign_block(const char *kind, const char *path)
{
	if (strcmp(kind, "static") == 0)
		return data + 64;
	if (strcmp(kind, "middle") == 0) {
		char *block = malloc(1 << 20);
		return block + 4096;
	}
	if (strcmp(kind, "freed") == 0) {
		char *block = malloc(1 << 20);
		free(block);
		return block;
	}
	void *plugin = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
	char *(*get)(void) = plugin ? (char *(*)(void))dlsym(plugin, "plugin_block") : NULL;
	return get ? get() : NULL;
}

int main(int argc, char **argv)
{
	char *block = argc == 4 ? foreign_block(argv[1], argv[3]) : NULL;
	if (!block)
		return 64;
	__asm__ volatile("" : "+r"(block));
	if (strcmp(argv[2], "free") == 0)
		free(block);
	else if (strcmp(argv[2], "realloc") == 0)
		printf("%p\n", realloc(block, 500000));
	else
		printf("%zu\n", malloc_usable_size(block));
	puts("it came back");
	return 0;
}
