/*
 * Names come from other programs. What is escaped here does not depend on the locale, as a file is read elsewhere.
 */
#include "csv.h"

#include <inttypes.h>
#include <string.h>

#include "utf8.h"

static void begin_field(struct csv *csv)
{
	if (csv->is_inside)
		putc(',', csv->out);
	csv->is_inside = true;
}

void csv_u64(struct csv *csv, uint64_t value)
{
	begin_field(csv);
	fprintf(csv->out, "%" PRIu64, value);
}

void csv_empty(struct csv *csv)
{
	begin_field(csv);
}

void csv_end_line(struct csv *csv)
{
	fputs("\r\n", csv->out);
	csv->is_inside = false;
}

/* Controls are one byte, or (U+0080 to U+009F, which terminals obey too) 0xc2 and one byte. */
static bool is_control(const unsigned char *text, size_t length)
{
	return length == 0 || (length == 1 && (*text < ' ' || *text == 0x7f)) ||
	       (length == 2 && text[0] == 0xc2 && text[1] < 0xa0);
}

static size_t print_character(FILE *out, const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t length = qp_utf8_character(text, strnlen(text, 4));

	if (*text == '\\')
		fputs("\\\\", out);
	else if (*text == '"')
		fputs("\"\"", out);
	else if (is_control(bytes, length) && length == 2)
		fprintf(out, "\\u{%x}", bytes[1]);
	else if (is_control(bytes, length))
		fprintf(out, "\\x%02x", *bytes);
	else
		fwrite(text, 1, length, out);
	return length ? length : 1;
}

void csv_text(struct csv *csv, const char *text)
{
	bool is_quoted = strpbrk(text, ",\"") || *text == ' ';

	begin_field(csv);
	if (is_quoted)
		putc('"', csv->out);
	while (*text)
		text += print_character(csv->out, text);
	if (is_quoted)
		putc('"', csv->out);
}
