/*
 * makedoc - writes the document that script/demo opens: 1,048,576 lines of 80 bytes, 80 MiB, the same bytes each time.
 *
 * Four fields with tabs between them: a number, a name, a place, and a remark that fills the line. Names and places
 * are of many lengths, as in real text, so that the fields fall into several size classes; a small generator of
 * numbers (xorshift, fixed seed) chooses.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

enum { LINES = 1 << 20, LINE_BYTES = 80 };

static const char *const given_names[] = {"Anna", "Bruno", "Clara", "Daniel", "Elena", "Frederick", "Greta", "Hugo"};
static const char *const family_names[] = {"Miller", "Novak", "Rossi",  "Bergstrom",
					   "Santos", "Kim",   "Haddad", "Larsen"};
static const char *const places[] = {
	"Oslo", "Antwerp", "Buenos Aires", "Zagreb", "Nagoya", "Santa Cruz de Tenerife", "Cork", "Thessaloniki"};
static const char remark[] = "a remark that fills what is left of the line, more or less of it as the rest needs";

static uint64_t next_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* One line of LINE_BYTES, with its newline and no NUL. */
static void line_make(char line[LINE_BYTES + 1], unsigned number, uint64_t *state)
{
	uint64_t random = next_number(state);
	int used = snprintf(line, LINE_BYTES + 1, "%07u\t%s %s\t%s\t", number, given_names[random & 7],
			    family_names[random >> 3 & 7], places[random >> 6 & 7]);
	memcpy(line + used, remark, (size_t)(LINE_BYTES - 1 - used));
	line[LINE_BYTES - 1] = '\n';
}

int main(int argc, char **argv)
{
	if (argc != 2 || argv[1][0] == '-') {
		FILE *stream = argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr;
		fputs("usage: makedoc FILE\n\n"
		      "Writes a document of 1,048,576 records for docview into FILE: 80 MiB, the same bytes each "
		      "time.\n",
		      stream);
		return stream == stdout ? EX_OK : EX_USAGE;
	}
	FILE *file = fopen(argv[1], "we");
	if (!file) {
		fprintf(stderr, "makedoc: cannot write %s: %s\n", argv[1], strerror(errno));
		return EX_CANTCREAT;
	}
	uint64_t state = 88172645463325252u;
	for (unsigned number = 0; number < LINES && !ferror(file); number++) {
		char line[LINE_BYTES + 1];
		line_make(line, number, &state);
		fwrite(line, 1, LINE_BYTES, file);
	}
	int failed = ferror(file);
	if (fclose(file) != 0 || failed) {
		fprintf(stderr, "makedoc: cannot write %s: %s\n", argv[1], strerror(errno));
		return EX_IOERR;
	}
	return EX_OK;
}
