/*
 * A bit for each OS page, so that what is gathered in any order comes out as runs without being sorted. The kernel
 * stops at the first page that it refuses and does not say which: so only a run that failed is tried in pieces.
 */
#include "returns.h"

#include <string.h>

#include "bits.h"
#include "os.h"

void returns_init(struct returns *returns, char *base)
{
	memset(returns, 0, sizeof *returns);
	returns->base = base;
}

uint32_t returns_number(const struct returns *returns, const char *address)
{
	return (uint32_t)((size_t)(address - returns->base) / os_page_bytes());
}

void returns_add(struct returns *returns, uint32_t first, uint32_t end)
{
	bits_change(returns->pages, first, end, true);
}

static bool give_back(const struct returns *returns, uint32_t first, uint32_t end)
{
	return os_return(returns->base + first * os_page_bytes(), (end - first) * os_page_bytes());
}

static void run_in_pieces(struct returns *returns, uint32_t first, uint32_t end, uint32_t piece)
{
	for (uint32_t next; first < end; first = next) {
		next = (first / piece + 1) * piece;
		if (next > end)
			next = end;
		if (!give_back(returns, first, next))
			bits_change(returns->refused, first, next, true);
	}
}

void returns_run(struct returns *returns, uint32_t piece_bytes)
{
	for (uint32_t first = 0, end; first < RETURNS_OS_PAGES; first = end + 1) {
		end = first;
		while (end < RETURNS_OS_PAGES && bits_get(returns->pages, end))
			end++;
		if (end > first && !give_back(returns, first, end))
			run_in_pieces(returns, first, end, piece_bytes / (uint32_t)os_page_bytes());
	}
}

bool returns_are_refused(const struct returns *returns, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (bits_get(returns->refused, i))
			return true;
	return false;
}
