/*
 * busy-target - a program on libqa at full speed, for bench/in-the-way: it counts its allocations in a file that both
 * have mapped, so that nobody has to ask it. It ends by a signal.
 *
 * It holds a few hundred blocks of many sizes and replaces one after the other, touching each: the thread's caches work
 * all the time, and the shared pages now and then.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sysexits.h>
#include <unistd.h>

#include "qa.h"

enum { HELD = 512, SIZE_MOST = 2048, COUNT_EVERY = 256 };

static _Atomic uint64_t *map_counter(const char *path, unsigned long number)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	size_t bytes = (number + 1) * sizeof(uint64_t);

	if (fd < 0)
		return NULL;
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return mapped != MAP_FAILED ? (_Atomic uint64_t *)mapped + number : NULL;
}

int main(int argc, char **argv)
{
	static struct {
		unsigned char *block;
		size_t size;
	} held[HELD];
	uint32_t random = (uint32_t)getpid();

	if (argc != 3) {
		fputs("usage: busy-target FILE NUMBER\n", stderr);
		return EX_USAGE;
	}
	_Atomic uint64_t *counter = map_counter(argv[1], strtoul(argv[2], NULL, 10));
	if (counter == NULL) {
		perror("busy-target: the file of counters");
		return EX_NOINPUT;
	}
	for (uint64_t count = 1;; count++) {
		random = random * 1664525u + 1013904223u;
		unsigned at = random >> 8 & (HELD - 1);

		if (held[at].block != NULL && held[at].block[held[at].size - 1] != (unsigned char)held[at].size) {
			fputs("busy-target: a block has another's bytes\n", stderr);
			return EX_SOFTWARE;
		}
		qa_free(held[at].block);
		held[at].size = 1 + (random >> 17) % SIZE_MOST;
		held[at].block = qa_malloc(held[at].size);
		if (held[at].block == NULL)
			return EX_OSERR;
		held[at].block[held[at].size - 1] = (unsigned char)held[at].size;
		if (count % COUNT_EVERY == 0)
			atomic_store_explicit(counter, count, memory_order_relaxed);
	}
}
