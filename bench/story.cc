/*
 * The story of a document in one process: open, close but for one record, give back, open again, close. Compiled once
 * for each way to come by the memory (meson.build); bench/story runs them. Prints one JSON object.
 *
 * 1,048,576 records with four fields of 20 bytes each, 80 MiB of text; each record and each field is behind a
 * shared pointer, in an array of pointers. The record in the middle outlives its document, as something in a cache
 * or an undo list does.
 */
#include "story.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <sys/resource.h>
#include <vector>

extern "C" {
#include "child.h"
#include "peer_trim.h"
}

namespace
{

enum { FIELDS = 4, FIELD_BYTES = 20 };

struct field {
	char text[FIELD_BYTES];
};

struct record {
	story_pointer<field> fields[FIELDS];
};

typedef story_pointer<record> record_pointer;
typedef std::vector<record_pointer, story_allocator<record_pointer>> document;

story_pointer<field> make_field(unsigned number, unsigned column)
{
	story_pointer<field> made = story_make<field>();
	std::memset(made->text, ' ', FIELD_BYTES);
	for (char *digit = made->text + FIELD_BYTES; number > 0; number /= 10)
		*--digit = static_cast<char>('0' + number % 10);
	made->text[0] = static_cast<char>('a' + column);
	return made;
}

document open_document(unsigned records)
{
	document opened;
	opened.reserve(records);
	for (unsigned number = 0; number < records; number++) {
		record_pointer made = story_make<record>();
		for (unsigned column = 0; column < FIELDS; column++)
			made->fields[column] = make_field(number, column);
		opened.push_back(made);
	}
	return opened;
}

record_pointer close_document(document &opened)
{
	record_pointer kept = opened[opened.size() / 2];
	document().swap(opened);
	return kept;
}

void check_kept(const record_pointer &kept, unsigned records)
{
	char text[FIELD_BYTES + 1];
	std::snprintf(text, sizeof text, "d%*u", FIELD_BYTES - 1, records / 2);
	child_check(std::memcmp(kept->fields[3]->text, text, FIELD_BYTES) == 0, "the kept record has changed");
}

/* Time that this process used, in user and in kernel mode: other programs on the machine do not count. */
double used_ms()
{
	timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct watch {
	uint64_t start_ns = child_now_ns();
	double start_ms = used_ms();

	void print(const char *what) const
	{
		double used = used_ms() - start_ms;
		std::printf(", \"%s_ms\": %.3f, \"%s_cpu_ms\": %.3f", what,
			    static_cast<double>(child_now_ns() - start_ns) / 1e6, what, used);
	}
};

void note(const char *what)
{
	std::printf(", \"%s_bytes\": %llu", what, static_cast<unsigned long long>(child_rss_bytes()));
}

/* Where malloc comes from, so that a library that was not preloaded after all is noticed. */
void print_malloc()
{
	Dl_info found;
	bool is_found = dladdr(dlsym(RTLD_DEFAULT, "malloc"), &found) != 0;
	std::printf("{\"malloc\": \"%s\"", is_found ? found.dli_fname : "");
}

} // namespace

int main(int argc, char **argv)
{
	static char output[4096];
	setvbuf(stdout, output, _IOFBF, sizeof output);
	unsigned records = argc == 2 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 0;
	if (records < 2) {
		std::fprintf(stderr, "usage: %s RECORDS\n", argv[0]);
		return 64;
	}
	print_malloc();
	note("start");
	watch opening;
	document opened = open_document(records);
	opening.print("opening");
	note("open");
	record_pointer kept = close_document(opened);
	note("closed");
	watch trimming;
	story_trim();
	peer_trim();
	trimming.print("trim");
	note("trimmed");
	watch reopening;
	opened = open_document(records);
	reopening.print("reopening");
	note("reopened");
	check_kept(kept, records);
	kept = close_document(opened);
	note("closed_again");
	check_kept(kept, records);
	std::puts("}");
	return 0;
}
