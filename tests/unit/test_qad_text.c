/*
 * text.h of qad: what is UTF-8 stays, everything else becomes U+FFFD, and no cut tears a character.
 */
#include <string.h>

#include "test.h"

#include "text.h"

#define BAD "\xef\xbf\xbd"

static void assert_copy(const char *from, size_t from_bytes, size_t size_bytes, const char *expected)
{
	char to[64];

	memset(to, 'z', sizeof(to));
	text_copy(to, size_bytes, from, from_bytes);
	assert_string_equal(to, expected);
}

static void keeps_what_is_utf8(void **state)
{
	(void)state;
	static const char *const good[] = {"",
					   "plain",
					   "\xc2\x80",
					   "\xdf\xbf",
					   "\xe0\xa0\x80",
					   "\xed\x9f\xbf",
					   "\xee\x80\x80",
					   "\xf0\x90\x80\x80",
					   "\xf4\x8f\xbf\xbf",
					   "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8d\x8b",
					   "\x1b[2J\n\x7f"};

	for (size_t i = 0; i < COUNT(good); i++)
		assert_copy(good[i], strlen(good[i]), 64, good[i]);
}

static void replaces_each_byte_that_is_not(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"\x80", BAD},
		{"\xff", BAD},
		{"\xc0\x80", BAD BAD}, /* overlong */
		{"\xc1\xbf", BAD BAD},
		{"\xe0\x9f\xbf", BAD BAD BAD},
		{"\xed\xa0\x80", BAD BAD BAD}, /* a surrogate */
		{"\xf0\x8f\xbf\xbf", BAD BAD BAD BAD},
		{"\xf4\x90\x80\x80", BAD BAD BAD BAD}, /* above U+10FFFF */
		{"\xf5\x80\x80\x80", BAD BAD BAD BAD},
		{"a\xc3", "a" BAD}, /* cut */
		{"a\xe2\x82", "a" BAD BAD},
		{"\xe2\x28\xa1", BAD "(" BAD},
		{"\xc3\xc3\xbc", BAD "\xc3\xbc"},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_copy(cases[i].from, strlen(cases[i].from), 64, cases[i].to);
}

static void ends_at_a_nul_and_at_the_given_length(void **state)
{
	(void)state;
	assert_copy("ab\0cd", 5, 64, "ab");
	assert_copy("abcd", 2, 64, "ab");
	assert_copy("\xc3\xbc", 1, 64, BAD);
	assert_copy("", 0, 64, "");
}

static void cuts_at_a_whole_character(void **state)
{
	(void)state;
	assert_copy("abcdef", 6, 4, "abc");
	assert_copy("ab\xc3\xbc", 4, 5, "ab\xc3\xbc");
	assert_copy("ab\xc3\xbc", 4, 4, "ab");
	assert_copy("a\xff", 2, 4, "a"); /* the replacement does not fit */
	assert_copy("a\xff", 2, 5, "a" BAD);
	assert_copy("abc", 3, 1, "");
}

static void repairs_in_place_within_the_same_size(void **state)
{
	char text[8] = "ab\xff\xff\xff";

	(void)state;
	text_repair(text, sizeof(text));
	assert_string_equal(text, "ab" BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_utf8),
		cmocka_unit_test(replaces_each_byte_that_is_not),
		cmocka_unit_test(ends_at_a_nul_and_at_the_given_length),
		cmocka_unit_test(cuts_at_a_whole_character),
		cmocka_unit_test(repairs_in_place_within_the_same_size),
	};

	return cmocka_run_group_tests_name("qad text", tests, NULL, NULL);
}
