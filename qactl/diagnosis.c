/*
 * What a trim would return is not known from counters exactly: it depends on which OS pages the blocks in use lie in.
 * But it has bounds. A block of b bytes touches at most (b - 2) / p + 2 OS pages of p bytes, so n blocks keep at most
 * n times that many; and at least their own bytes, rounded up. The rest of what is held goes back.
 *
 *     returned at least = held - min(held, n ((b - 2) / p + 2) p)       at most = held - round_up(n b)
 *
 * Empty pages go back in any case. Blocks in caches that a trim can not reach stay.
 */
#include "diagnosis.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "size.h"
#include "text.h"

enum { PINS = 3, MUCH_BYTES = 1 << 20 };

/* What a trim would return: at least and at most. */
struct bounds {
	uint64_t least_bytes, most_bytes;
};

/* Of one class, whose pages and blocks the figures tell; os_page_bytes is that of the target's host. */
static struct bounds bound_class(const struct qp_class *row, uint64_t os_page_bytes)
{
	struct bounds bounds = {0};
	uint64_t kept_least, kept_most;

	if (row->block_size == 0) /* large blocks: what is kept of freed ones goes back, and no other */
		return (struct bounds){row->empty_bytes, row->empty_bytes};
	if (row->held_bytes == 0)
		return bounds;
	kept_least = (row->used_bytes + os_page_bytes - 1) / os_page_bytes * os_page_bytes;
	kept_most = row->used_blocks * ((row->block_size - 2) / os_page_bytes + 2) * os_page_bytes;
	if (kept_most > row->held_bytes - row->empty_bytes)
		kept_most = row->held_bytes - row->empty_bytes;
	if (kept_least > kept_most)
		kept_least = kept_most;
	bounds.least_bytes = row->held_bytes - kept_most;
	bounds.most_bytes = row->held_bytes - kept_least;
	return bounds;
}

static struct bounds bound_all(const struct stats *stats, uint64_t os_page_bytes)
{
	struct bounds sum = {0};
	uint64_t unreachable = stats->target.totals.unreachable_bytes;

	for (size_t i = 0; i < stats->row_count; i++) {
		struct bounds bounds = bound_class(&stats->rows[i].figures, os_page_bytes);

		sum.least_bytes += bounds.least_bytes;
		sum.most_bytes += bounds.most_bytes;
	}
	/* A block that can not be reached keeps an OS page, whatever its size: the least is then the empty pages. */
	if (unreachable > 0) {
		sum.least_bytes = stats->target.totals.empty_bytes;
		sum.most_bytes = sum.most_bytes > unreachable ? sum.most_bytes - unreachable : 0;
	}
	return sum;
}

static void print_part(FILE *out, uint64_t bytes, uint64_t cached, const char *what)
{
	char size[SIZE_TEXT], percent[SIZE_TEXT];

	if (bytes == 0)
		return;
	size_format(bytes, size, sizeof(size));
	size_format_percent(bytes, cached, percent, sizeof(percent));
	fprintf(out, "  %s (%s %%) %s\n", size, percent, what);
}

static void print_cached(FILE *out, const struct qp_totals *totals)
{
	char held[SIZE_TEXT], used[SIZE_TEXT], cached[SIZE_TEXT], percent[SIZE_TEXT], what[128];

	if (totals->held_bytes == 0) {
		fputs("It holds nothing of the system's memory through libqa now.\n", out);
		return;
	}
	size_format(totals->held_bytes, held, sizeof(held));
	size_format(totals->used_bytes, used, sizeof(used));
	size_format(totals->cached_bytes, cached, sizeof(cached));
	size_format_percent(totals->cached_bytes, totals->held_bytes, percent, sizeof(percent));
	fprintf(out,
		"It holds %s of the system's memory through libqa. The program uses %s of it; %s (%s %%) is cached",
		held, used, cached, percent);
	if (totals->cached_bytes == 0) {
		fputs(".\n", out);
		return;
	}
	fputs(", of this\n", out);
	print_part(out, totals->empty_bytes, totals->cached_bytes,
		   "in pages without a block in use, kept for the next allocations;");
	snprintf(what, sizeof(what), "in free blocks in the caches of %" PRIu64 " thread%s, and between threads;",
		 totals->threads, totals->threads == 1 ? "" : "s");
	print_part(out, totals->thread_bytes, totals->cached_bytes, what);
	print_part(out, totals->partial_bytes, totals->cached_bytes,
		   "in free blocks in pages that also have blocks in use;");
	print_part(out, totals->slack_bytes, totals->cached_bytes, "in bytes of pages that no block covers.");
}

static void print_return(FILE *out, const struct bounds *bounds)
{
	char least[SIZE_TEXT], most[SIZE_TEXT];

	size_format(bounds->least_bytes, least, sizeof(least));
	size_format(bounds->most_bytes, most, sizeof(most));
	if (bounds->most_bytes == 0)
		fputs("A trim would return nothing.\n", out);
	else if (strcmp(least, most) == 0)
		fprintf(out, "A trim would return %s.\n", most);
	else
		fprintf(out,
			"A trim would return at least %s and at most %s: it depends on where the blocks in use lie.\n",
			least, most);
}

/* What of a class may stay cached after a trim. */
static uint64_t pinned_bytes(const struct qp_class *row, uint64_t os_page_bytes)
{
	uint64_t least = bound_class(row, os_page_bytes).least_bytes;

	return row->block_size != 0 && row->cached_bytes > least ? row->cached_bytes - least : 0;
}

static const struct qp_class *find_pin(const struct stats *stats, uint64_t os_page_bytes, uint64_t below_bytes)
{
	const struct qp_class *best = NULL;
	uint64_t best_bytes = 0;

	for (size_t i = 0; i < stats->row_count; i++) {
		uint64_t bytes = pinned_bytes(&stats->rows[i].figures, os_page_bytes);

		if (bytes < below_bytes && bytes > best_bytes) {
			best = &stats->rows[i].figures;
			best_bytes = bytes;
		}
	}
	return best;
}

static void print_pin(FILE *out, const struct qp_class *row, uint64_t bytes, char end)
{
	char pinned[SIZE_TEXT], held[SIZE_TEXT], percent[SIZE_TEXT], name[5 * QP_NAME_BYTES];

	size_format(bytes, pinned, sizeof(pinned));
	size_format(row->held_bytes, held, sizeof(held));
	size_format_percent(row->used_bytes, row->held_bytes, percent, sizeof(percent));
	text_escape(name, sizeof(name), row->name);
	fprintf(out, "  up to %s by %" PRIu64 " block%s of %" PRIu64 " bytes%s%s, in %s that they fill to %s %%%c\n",
		pinned, row->used_blocks, row->used_blocks == 1 ? "" : "s", row->block_size,
		row->name[0] ? " of the pool " : "", name, held, percent, end);
}

static void print_pins(FILE *out, const struct stats *stats, uint64_t os_page_bytes)
{
	const struct qp_class *row = find_pin(stats, os_page_bytes, UINT64_MAX);

	if (row)
		fputs("What may stay is pinned by blocks in use that share OS pages with free ones:\n", out);
	for (int i = 0; row && i < PINS; i++) {
		uint64_t bytes = pinned_bytes(row, os_page_bytes);
		const struct qp_class *next = i + 1 < PINS ? find_pin(stats, os_page_bytes, bytes) : NULL;

		print_pin(out, row, bytes, next ? ';' : '.');
		row = next;
	}
}

static void print_advice(FILE *out, const struct stats *stats, const struct bounds *bounds, uint64_t os_page_bytes)
{
	const struct qp_totals *totals = &stats->target.totals;
	const struct qp_class *pin = find_pin(stats, os_page_bytes, UINT64_MAX);
	bool is_advised = false;

	if (bounds->least_bytes >= MUCH_BYTES && (is_advised = true))
		fprintf(out, "To have it back now: qactl trim %" PRIu64 " (with --keep BYTES to leave some).\n",
			stats->target.pid);
	if (totals->unreachable_bytes > 0 && (is_advised = true))
		fputs("Caches of other threads can not be taken there, as the kernel refuses membarrier(2) (seccomp?): "
		      "allow it.\n",
		      out);
	if (pin && pinned_bytes(pin, os_page_bytes) >= MUCH_BYTES && pin->name[0] == '\0' && (is_advised = true))
		fprintf(out,
			"If those %" PRIu64
			"-byte blocks live long, a named pool of their own (qa_pool_create, in C++ qa::pool) keeps "
			"them together.\n",
			pin->block_size);
	if (totals->slack_bytes + totals->empty_bytes >= MUCH_BYTES && totals->page_size > 65536 && (is_advised = true))
		fprintf(out, "Its pages have %" PRIu64 " bytes; a smaller QA_PAGE_SIZE leaves less unused.\n",
			totals->page_size);
	if (is_advised)
		return;
	if (pin && pinned_bytes(pin, os_page_bytes) >= MUCH_BYTES)
		fprintf(out,
			"How much comes back only a trim can tell, and it is safe to try: qactl trim %" PRIu64
			". The rest can go back after those blocks are freed.\n",
			stats->target.pid);
	else
		fputs("Nothing needs to be done.\n", out);
}

void diagnosis_print(FILE *out, const struct stats *stats)
{
	uint64_t os_page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct bounds bounds = bound_all(stats, os_page_bytes);
	char rss[SIZE_TEXT];

	print_cached(out, &stats->target.totals);
	size_format(stats->target.rss_bytes, rss, sizeof(rss));
	fprintf(out, "The whole process has %s resident.\n", rss);
	print_return(out, &bounds);
	print_pins(out, stats, os_page_bytes);
	print_advice(out, stats, &bounds, os_page_bytes);
}
