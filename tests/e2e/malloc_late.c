/*
 * A program on malloc_early's library, plain malloc otherwise: frees what came before libc was ready, and prints what
 * malloc_info says at the end, from a destructor that runs after main.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "malloc_early.h"

static char *from_constructor;

__attribute__((constructor)) static void construct(void)
{
	from_constructor = malloc(1000);
}

__attribute__((destructor)) static void destruct(void)
{
	free(from_constructor);
	malloc_info(0, stdout);
	fflush(stdout);
}

int main(void)
{
	if (!early_block || early_block[99] != 7)
		return 1;
	printf("early environ %d\n", early_had_environ);
	free(early_block);
	return 0;
}
