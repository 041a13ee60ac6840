/*
 * Lines are cut here and not by getline(3), which would take the whole of a file without newlines into memory. jansson
 * reads what is in them.
 */
#include "record_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "json_read.h"
#include "output.h"
#include "record_line.h"
#include "text.h"

FILE *record_reader_open(const char *path)
{
	FILE *in = strcmp(path, "-") == 0 ? fdopen(dup(STDIN_FILENO), "r") : fopen(path, "re");
	char text[1024];

	if (!in) {
		text_escape(text, sizeof(text), path);
		output_say("%s can not be read: %s", text, strerror(errno));
	}
	return in;
}

static bool add_byte(struct record_reader *reader, char byte)
{
	if (reader->line_bytes == reader->room_bytes) {
		size_t room_bytes = reader->room_bytes ? reader->room_bytes * 2 : 4096;
		char *line = realloc(reader->line, room_bytes);

		if (!line)
			return false;
		reader->line = line;
		reader->room_bytes = room_bytes;
	}
	reader->line[reader->line_bytes++] = byte;
	return true;
}

/* The next line without its newline. Without one, or too long, it is damaged; the rest of a long one is skipped. */
static enum record_result read_line(struct record_reader *reader)
{
	int byte;

	reader->line_bytes = 0;
	reader->line_number++;
	reader->line_offset = reader->next_offset;
	reader->problem = NULL;
	while ((byte = getc_unlocked(reader->in)) != EOF) {
		reader->next_offset++;
		if (byte == '\n')
			return reader->problem ? RECORD_DAMAGED : RECORD_ROUND;
		if (reader->line_bytes >= RECORD_LINE_BYTES) {
			reader->problem = "it is too long";
		} else if (!add_byte(reader, (char)byte)) {
			reader->status = output_no_memory();
			return RECORD_FAILED;
		}
	}
	if (ferror(reader->in)) {
		output_say("the recording can not be read: %s", strerror(errno));
		reader->status = EX_NOINPUT;
		return RECORD_FAILED;
	}
	if (reader->line_bytes == 0)
		return RECORD_END;
	reader->problem = "the file ends in the middle of it";
	return RECORD_DAMAGED;
}

static enum record_result take_line(struct record_reader *reader, const json_t *line, struct round *round)
{
	struct json_reader keys = {.object = line};

	if (json_object_get(line, "targets")) {
		reader->problem = record_line_to_round(line, round);
		reader->records += reader->problem == NULL;
		return reader->problem ? RECORD_DAMAGED : RECORD_ROUND;
	}
	if (json_object_get(line, "end_ms")) {
		reader->has_end = true;
		if (json_read_u64(&keys, "records") != reader->records) {
			reader->problem = "it tells of another number of records";
			return RECORD_DAMAGED;
		}
	}
	return RECORD_END; /* of this line: nothing to show */
}

enum record_result record_reader_next(struct record_reader *reader, struct round *round)
{
	for (;;) {
		enum record_result result = read_line(reader);
		json_t *line;

		if (result != RECORD_ROUND)
			return result;
		line = json_loadb(reader->line, reader->line_bytes, JSON_REJECT_DUPLICATES, NULL);
		if (!json_is_object(line)) {
			json_decref(line);
			reader->problem = "it is no JSON object";
			return RECORD_DAMAGED;
		}
		result = take_line(reader, line, round);
		json_decref(line);
		if (result != RECORD_END)
			return result;
	}
}

/* 0, or 65 after having said what it is instead. */
static int check_header(struct record_reader *reader, const json_t *header, const char *name)
{
	struct json_reader keys = {.object = header};
	char format[32], text[1024];
	uint64_t version;

	json_read_text(&keys, "format", format, sizeof(format));
	version = json_read_u64(&keys, "version");
	text_escape(text, sizeof(text), name);
	if (keys.bad || strcmp(format, RECORD_FORMAT) != 0) {
		output_say("%s is no recording of 'qactl record': its first line is another", text);
		return EX_DATAERR;
	}
	if (version != RECORD_VERSION) {
		output_say("%s is a recording of version %llu, and this qactl reads version %d; take a later one", text,
			   (unsigned long long)version, RECORD_VERSION);
		return EX_DATAERR;
	}
	reader->has_classes = json_is_true(json_object_get(header, "classes"));
	return 0;
}

int record_reader_init(struct record_reader *reader, FILE *in, const char *name)
{
	enum record_result result;
	json_t *header;
	int status;

	*reader = (struct record_reader){.in = in};
	result = read_line(reader);
	if (result == RECORD_FAILED)
		return reader->status;
	header = result == RECORD_ROUND ? json_loadb(reader->line, reader->line_bytes, 0, NULL) : NULL;
	status = check_header(reader, header, name);
	json_decref(header);
	return status;
}

void record_reader_finish(struct record_reader *reader)
{
	free(reader->line);
	if (reader->in)
		fclose(reader->in);
	*reader = (struct record_reader){0};
}
