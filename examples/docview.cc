/*
 * docview - a sample program on libqa: opens a document as a million small objects, and closes it again.
 *
 * A document is text, one record a line, four fields a record with tabs between them. Every record and every field is
 * behind a boost::shared_ptr, as in a program that hands out parts of its document. Where their memory comes from:
 *
 *   control blocks   BOOST_SP_USE_QUICK_ALLOCATOR and an include path (meson.build): the row of 24 bytes
 *   records, fields  pools of their own: the rows "records" and "fields"
 *   texts            qa::allocator, where they do not fit into their string: the rows of their sizes
 *
 * The file goes through one small buffer, so what stays resident after a close is the allocator's doing. A close keeps
 * one record, from the middle: what a cache or an undo list does in a real program. Commands come on standard input,
 * each is answered by one line on standard output; in between the program sleeps in read(2).
 */
#include <qa.hpp>

#include <boost/shared_ptr.hpp>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <getopt.h>
#include <memory>
#include <new>
#include <string>
#include <sysexits.h>
#include <vector>

namespace
{

enum { FIELDS = 4, LINE_SIZE = 4096, FILE_BUFFER_SIZE = 64 << 10, INDEX_START = 4096 };

/* Objects made by new come from the pool of their class. */
template <class T> struct in_pool {
	static void *operator new(std::size_t) { return T::objects.allocate(); }
	static void operator delete(void *room) { T::objects.deallocate(static_cast<T *>(room)); }
};

typedef std::basic_string<char, std::char_traits<char>, qa::allocator<char>> text;

struct field final : in_pool<field> {
	const text value;
	static qa::pool<field> objects;

	field(const char *begin, const char *end) : value(begin, end) {}
};

struct record final : in_pool<record> {
	boost::shared_ptr<const field> fields[FIELDS];
	static qa::pool<record> objects;
};

qa::pool<field> field::objects("fields");
qa::pool<record> record::objects("records");

typedef boost::shared_ptr<const record> record_pointer;

/* A record of the text up to end; empty when that has not exactly four fields. */
record_pointer make_record(const char *begin, const char *end)
{
	boost::shared_ptr<record> made(new record);
	int count = 0;
	for (const char *at = begin; at <= end; at++) {
		if (at < end && *at != '\t')
			continue;
		if (count == FIELDS)
			return record_pointer();
		made->fields[count++].reset(new field(begin, at));
		begin = at + 1;
	}
	return count == FIELDS ? made : record_pointer();
}

struct document {
	std::vector<record_pointer, qa::allocator<record_pointer>> records;
	std::uint64_t text_bytes = 0;

	/* A line with its newline. False: it is no record. */
	bool add_line(const char *line)
	{
		const char *end = std::strchr(line, '\n');
		record_pointer made = end ? make_record(line, end) : record_pointer();
		if (!made)
			return false;
		records.push_back(made);
		text_bytes += static_cast<std::uint64_t>(end - line) + 1;
		return true;
	}
};

/* What went wrong, and in which line if it was one. */
struct open_error {
	const char *path;
	std::size_t line;
	int code; /* of sysexits.h */
	const char *what;

	void print() const
	{
		if (line == 0)
			std::printf("error: cannot open %s: %s\n", path, what);
		else
			std::printf("error: %s, line %zu: %s\n", path, line, what);
	}
};

struct file_closer {
	void operator()(std::FILE *file) const { std::fclose(file); }
};

/* Reads the file, whole; throws open_error. */
document read_document(const char *path)
{
	static char buffer[FILE_BUFFER_SIZE];
	static char line[LINE_SIZE];
	static_assert(LINE_SIZE - 1 == 4095, "what it says below");
	std::unique_ptr<std::FILE, file_closer> file(std::fopen(path, "re"));
	if (!file)
		throw open_error{path, 0, EX_NOINPUT, std::strerror(errno)};
	std::setvbuf(file.get(), buffer, _IOFBF, sizeof buffer);

	document opened;
	opened.records.reserve(INDEX_START);
	std::size_t number = 1;
	try {
		for (; std::fgets(line, sizeof line, file.get()); number++) {
			if (!opened.add_line(line))
				throw open_error{path, number, EX_DATAERR,
						 "not four fields with tabs between them and a newline, in 4095 bytes"};
		}
	} catch (const std::bad_alloc &) {
		throw open_error{path, number, EX_OSERR, std::strerror(ENOMEM)};
	}
	if (std::ferror(file.get()))
		throw open_error{path, number, EX_IOERR, std::strerror(EIO)};
	return opened;
}

class viewer
{
	document opened;
	record_pointer kept; /* of the last document that was closed */

	void close()
	{
		if (opened.records.empty()) {
			std::puts("error: no document is open");
			return;
		}
		kept = opened.records[opened.records.size() / 2];
		opened = document();
		std::puts("closed, 1 record kept");
	}

	void show() const
	{
		if (!kept) {
			std::puts("error: no record is kept, since no document was closed");
			return;
		}
		for (int i = 0; i < FIELDS; i++)
			std::printf("%s%s", i > 0 ? " | " : "", kept->fields[i]->value.c_str());
		std::putchar('\n');
	}

      public:
	/* 0, or a code of sysexits.h and nothing is open. */
	int open(const char *path)
	{
		opened = document();
		try {
			opened = read_document(path);
		} catch (const open_error &error) {
			error.print();
			return error.code;
		}
		std::printf("opened %zu records, %" PRIu64 " bytes\n", opened.records.size(), opened.text_bytes);
		return 0;
	}

	/* Obeys one command, without its newline. False: it was the last. */
	bool obey(const char *command)
	{
		if (std::strcmp(command, "quit") == 0)
			return false;
		if (std::strncmp(command, "open ", 5) == 0)
			open(command + 5);
		else if (std::strcmp(command, "close") == 0)
			close();
		else if (std::strcmp(command, "kept") == 0)
			show();
		else
			std::puts("error: the commands are: open FILE, close, kept, quit");
		return true;
	}
};

int usage(std::FILE *stream, int code)
{
	std::fputs("usage: docview [FILE]\n\n"
		   "Opens a document (one record a line, four fields with tabs between them) on libqa, and obeys\n"
		   "commands from standard input, each answered by one line:\n\n"
		   "  open FILE   open a document; the one that is open is closed first, whole\n"
		   "  close       close the document, but keep the record in its middle\n"
		   "  kept        show the record that was kept\n"
		   "  quit        end; so does the end of the input\n\n"
		   "Exit: 0; 64 usage; 65 FILE is no document; 66 FILE cannot be opened; 71 out of memory; 74 cannot "
		   "read.\n",
		   stream);
	return code;
}

} // namespace

int main(int argc, char **argv)
{
	static const option options[] = {{"help", no_argument, nullptr, 'h'}, {nullptr, 0, nullptr, 0}};
	int given = getopt_long(argc, argv, "h", options, nullptr);
	if (given != -1)
		return given == 'h' ? usage(stdout, EX_OK) : usage(stderr, EX_USAGE);
	if (argc - optind > 1)
		return usage(stderr, EX_USAGE);
	static char output[BUFSIZ];
	std::setvbuf(stdout, output, _IOLBF, sizeof output);

	viewer viewer;
	if (optind < argc) {
		int code = viewer.open(argv[optind]);
		if (code != 0)
			return code;
	}
	static char command[LINE_SIZE];
	while (std::fgets(command, sizeof command, stdin)) {
		command[std::strcspn(command, "\n")] = '\0';
		if (!viewer.obey(command))
			break;
	}
	return EX_OK;
}
