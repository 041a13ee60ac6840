/*
 * Names come from other programs. What is escaped here does not depend on the locale, as a file is read elsewhere.
 */
#include "csv.h"

#include <inttypes.h>
#include <string.h>

#include "text.h"
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

/* The code point of a well-formed character: the low bits of its first byte, then six of each other. */
static wchar_t code_point(const unsigned char *text, size_t length)
{
	wchar_t c = length > 1 ? *text & (0xff >> (length + 1)) : *text;

	for (size_t i = 1; i < length; i++)
		c = (c << 6) | (text[i] & 0x3f);
	return c;
}

/* Terminals obey U+0080 to U+009F as they do the controls of ASCII. */
static bool is_harmful(wchar_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || text_is_deceptive(c);
}

static size_t print_character(FILE *out, const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t length = qp_utf8_character(text, strnlen(text, 4));

	if (*text == '\\')
		fputs("\\\\", out);
	else if (*text == '"')
		fputs("\"\"", out);
	else if (length == 0 || (length == 1 && is_harmful(*bytes)))
		fprintf(out, "\\x%02x", *bytes);
	else if (length > 1 && is_harmful(code_point(bytes, length)))
		fprintf(out, "\\u{%x}", (unsigned)code_point(bytes, length));
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
