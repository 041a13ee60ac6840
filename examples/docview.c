/*
 * docview - a sample program on libqa: opens a document as a million small records, and closes it again.
 *
 * A document is text, one record a line, four fields a record with tabs between them. Each record and each field is
 * a block of its own, as in a program that keeps objects behind pointers; the array that finds the records is one
 * large block. The file goes through one small buffer, so what stays resident after a close is the allocator's doing.
 * A close keeps one record, from the middle: what a cache or an undo list does in a real program. Commands come on
 * standard input, each is answered by one line on standard output; in between the program sleeps in read(2).
 */
#include <errno.h>
#include <getopt.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <qa.h>

enum { FIELDS = 4, LINE_SIZE = 4096, FILE_BUFFER_SIZE = 64 << 10, INDEX_START = 1024 };

struct record {
	char *fields[FIELDS]; /* each a block of strlen + 1 bytes */
};

struct document {
	struct record **records;
	size_t count, capacity;
	uint64_t text_bytes;
};

/* Makes a field of the text up to end; NULL when memory is out. */
static char *field_create(const char *text, const char *end)
{
	size_t length = (size_t)(end - text);
	char *field = qa_alloc(length + 1, 1);
	if (field) {
		memcpy(field, text, length);
		field[length] = '\0';
	}
	return field;
}

static void record_destroy(struct record *record)
{
	if (!record)
		return;
	for (int i = 0; i < FIELDS; i++) {
		if (record->fields[i])
			qa_dealloc(record->fields[i], strlen(record->fields[i]) + 1, 1);
	}
	qa_dealloc(record, sizeof *record, alignof(struct record));
}

/* A record of the text up to end. NULL and errno: EINVAL when it has not exactly four fields, ENOMEM. */
static struct record *record_create(const char *text, const char *end)
{
	const char *ends[FIELDS];
	int count = 0;
	for (const char *at = text; at <= end; at++) {
		if (at < end && *at != '\t')
			continue;
		if (count == FIELDS) {
			errno = EINVAL;
			return NULL;
		}
		ends[count++] = at;
	}
	if (count != FIELDS) {
		errno = EINVAL;
		return NULL;
	}

	struct record *record = qa_alloc(sizeof *record, alignof(struct record));
	if (!record)
		return NULL;
	memset(record, 0, sizeof *record);
	for (int i = 0; i < FIELDS; i++) {
		record->fields[i] = field_create(text, ends[i]);
		if (!record->fields[i]) {
			record_destroy(record);
			errno = ENOMEM;
			return NULL;
		}
		text = ends[i] + 1;
	}
	return record;
}

/* 0, or -ENOMEM: then the record is still the caller's. */
static int document_add(struct document *document, struct record *record)
{
	if (document->count == document->capacity) {
		size_t capacity = document->capacity ? 2 * document->capacity : INDEX_START;
		struct record **records = qa_realloc(document->records, capacity * sizeof(struct record *));
		if (!records)
			return -ENOMEM;
		document->records = records;
		document->capacity = capacity;
	}
	document->records[document->count++] = record;
	return 0;
}

static void document_close(struct document *document)
{
	for (size_t i = 0; i < document->count; i++)
		record_destroy(document->records[i]);
	qa_free(document->records);
	*document = (struct document){0};
}

/* Adds the line, with its newline. 0 or a negative errno; -EINVAL when it is no record. */
static int document_add_line(struct document *document, const char *line)
{
	const char *end = strchr(line, '\n');
	if (!end)
		return -EINVAL;
	struct record *record = record_create(line, end);
	if (!record)
		return -errno;
	int status = document_add(document, record);
	if (status < 0) {
		record_destroy(record);
		return status;
	}
	document->text_bytes += (uint64_t)(end - line) + 1;
	return 0;
}

/* Reads the file into an empty document. Answers in words; 0, or a code of sysexits.h and nothing is open. */
static int document_open(struct document *document, const char *path)
{
	static char buffer[FILE_BUFFER_SIZE];
	static char line[LINE_SIZE];
	FILE *file = fopen(path, "re");
	if (!file) {
		printf("error: cannot open %s: %s\n", path, strerror(errno));
		return EX_NOINPUT;
	}
	setvbuf(file, buffer, _IOFBF, sizeof buffer);

	int status = 0;
	while (status == 0 && fgets(line, sizeof line, file))
		status = document_add_line(document, line);
	if (status == 0 && ferror(file))
		status = -EIO;
	fclose(file);
	if (status == 0) {
		printf("opened %zu records, %ju bytes\n", document->count, (uintmax_t)document->text_bytes);
		return 0;
	}

	size_t number = document->count + 1;
	document_close(document);
	if (status == -EINVAL) {
		printf("error: %s, line %zu: not four fields with tabs between them and a newline, in %d bytes\n", path,
		       number, LINE_SIZE - 1);
		return EX_DATAERR;
	}
	printf("error: %s, line %zu: %s\n", path, number, strerror(-status));
	return status == -ENOMEM ? EX_OSERR : EX_IOERR;
}

struct viewer {
	struct document document;
	struct record *kept; /* of the last document that was closed, or NULL */
};

static void viewer_show(const struct record *record)
{
	printf("%s | %s | %s | %s\n", record->fields[0], record->fields[1], record->fields[2], record->fields[3]);
}

static void viewer_close(struct viewer *viewer)
{
	struct document *document = &viewer->document;
	if (!document->records) {
		puts("error: no document is open");
		return;
	}
	size_t middle = document->count / 2;
	record_destroy(viewer->kept);
	viewer->kept = document->count ? document->records[middle] : NULL;
	if (viewer->kept)
		document->records[middle] = NULL;
	document_close(document);
	printf("closed, %d record kept\n", viewer->kept ? 1 : 0);
}

/* Obeys one command, without its newline. False: it was the last. */
static bool viewer_obey(struct viewer *viewer, const char *command)
{
	if (strcmp(command, "quit") == 0)
		return false;
	if (strncmp(command, "open ", 5) == 0) {
		document_close(&viewer->document);
		document_open(&viewer->document, command + 5);
	} else if (strcmp(command, "close") == 0) {
		viewer_close(viewer);
	} else if (strcmp(command, "kept") == 0 && viewer->kept) {
		viewer_show(viewer->kept);
	} else if (strcmp(command, "kept") == 0) {
		puts("error: no record is kept, since no document was closed");
	} else {
		puts("error: the commands are: open FILE, close, kept, quit");
	}
	return true;
}

static void usage(FILE *stream)
{
	fputs("usage: docview [FILE]\n\n"
	      "Opens a document (one record a line, four fields with tabs between them) on libqa, and obeys\n"
	      "commands from standard input, each answered by one line:\n\n"
	      "  open FILE   open a document; the one that is open is closed first, whole\n"
	      "  close       close the document, but keep the record in its middle\n"
	      "  kept        show the record that was kept\n"
	      "  quit        end; so does the end of the input\n\n"
	      "Exit: 0; 64 usage; 65 FILE is no document; 66 FILE cannot be opened; 71 out of memory; 74 cannot "
	      "read.\n",
	      stream);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	int option;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		usage(option == 'h' ? stdout : stderr);
		return option == 'h' ? EX_OK : EX_USAGE;
	}
	if (argc - optind > 1) {
		usage(stderr);
		return EX_USAGE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);

	struct viewer viewer = {0};
	if (optind < argc) {
		int code = document_open(&viewer.document, argv[optind]);
		if (code)
			return code;
	}

	char command[LINE_SIZE];
	while (fgets(command, sizeof command, stdin)) {
		command[strcspn(command, "\n")] = '\0';
		if (!viewer_obey(&viewer, command))
			break;
	}
	document_close(&viewer.document);
	record_destroy(viewer.kept);
	return EX_OK;
}
