/*
 * returns.h - OS pages of one chunk that a trim gives back together: those of empty pages, and those inside partly used
 * ones. They are gathered first, so that neighbours go in one call of the kernel's whatever they belong to.
 *
 * One trim at a time; no lock is needed, and none is held while the kernel works.
 */
#ifndef LIBQA_RETURNS_H
#define LIBQA_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

enum { RETURNS_OS_PAGES = (4 << 20) / (4 << 10), RETURNS_WORDS = RETURNS_OS_PAGES / 64 };

struct returns {
	char *base; /* of the chunk; OS pages are numbered from there */
	uint64_t pages[RETURNS_WORDS];
	uint64_t refused[RETURNS_WORDS]; /* after returns_run: of these, those that the kernel did not take */
};

void returns_init(struct returns *returns, char *base);

/* The number of the OS page at an address in the chunk. */
uint32_t returns_number(const struct returns *returns, const char *address);

/* OS pages first to end, exclusive, are to go. */
void returns_add(struct returns *returns, uint32_t first, uint32_t end);

/*
 * Gives them back. A run that the kernel refuses (some of it is locked memory) is tried again in pieces of piece_bytes,
 * a multiple of the OS page.
 */
void returns_run(struct returns *returns, uint32_t piece_bytes);

/* Whether one of OS pages first to end, exclusive, was refused. */
bool returns_are_refused(const struct returns *returns, uint32_t first, uint32_t end);

#endif
