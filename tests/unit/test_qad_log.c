/*
 * log.h of qad: what a line looks like, which are left out, and how often faults and deeds are told.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "log.h"

static struct fixture {
	FILE *file; /* stderr, meanwhile */
	int kept;
	char text[1 << 16];
} fixture;

static int set_up(void **state)
{
	(void)state;
	fixture.file = tmpfile();
	fixture.kept = dup(STDERR_FILENO);
	unsetenv("JOURNAL_STREAM");
	return fixture.file != NULL && dup2(fileno(fixture.file), STDERR_FILENO) >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	dup2(fixture.kept, STDERR_FILENO);
	close(fixture.kept);
	return fclose(fixture.file);
}

/* Everything written so far. */
static const char *written(void)
{
	ssize_t bytes = pread(fileno(fixture.file), fixture.text, sizeof(fixture.text) - 1, 0);

	assert_true(bytes >= 0);
	fixture.text[bytes] = '\0';
	return fixture.text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
		count++;
	return count;
}

static void a_line_has_its_level(void **state)
{
	struct log log;

	(void)state;
	log_init(&log, LOG_LEVEL_DEBUG);
	log_write(&log, LOG_LEVEL_ERROR, "one %d", 1);
	log_write(&log, LOG_LEVEL_NOTICE, "two");
	log_write(&log, LOG_LEVEL_DEBUG, "three");
	assert_string_equal(written(), "qad: error: one 1\nqad: two\nqad: debug: three\n");
}

static void less_important_ones_are_left_out(void **state)
{
	struct log log;

	(void)state;
	log_init(&log, LOG_LEVEL_ERROR);
	log_write(&log, LOG_LEVEL_WARNING, "no");
	log_fault(&log, 0, "no");
	log_write(&log, LOG_LEVEL_ERROR, "yes");
	assert_string_equal(written(), "qad: error: yes\n");
}

static void control_characters_are_escaped_and_texts_kept(void **state)
{
	struct log log;

	(void)state;
	log_init(&log, LOG_LEVEL_NOTICE);
	log_write(&log, LOG_LEVEL_NOTICE, "%s", "\x1b[2J\n\r\t\x7f \xc2\x9b \xc2\xa0\xc3\xbc");
	assert_string_equal(written(), "qad: \\x1b[2J\\x0a\\x0d\\x09\\x7f \\xc2\\x9b \xc2\xa0\xc3\xbc\n");
}

static void what_turns_the_text_is_escaped(void **state)
{
	struct log log;

	(void)state;
	log_init(&log, LOG_LEVEL_NOTICE);
	log_write(&log, LOG_LEVEL_NOTICE, "%s", "\xe2\x80\x8a\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\x90");
	log_write(&log, LOG_LEVEL_NOTICE, "%s", "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf");
	log_write(&log, LOG_LEVEL_NOTICE, "%s", "\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa\xe2\x82\xac\xe2");
	assert_string_equal(written(), "qad: \xe2\x80\x8a\\xe2\\x80\\x8b\\xe2\\x80\\x8f\xe2\x80\x90\n"
				       "qad: \xe2\x80\xa7\\xe2\\x80\\xa8\\xe2\\x80\\xae\xe2\x80\xaf\n"
				       "qad: \xe2\x81\xa5\\xe2\\x81\\xa6\\xe2\\x81\\xa9\xe2\x81\xaa\xe2\x82\xac\xe2\n");
}

static void a_long_line_is_cut_and_still_ends(void **state)
{
	struct log log;
	char text[5000];

	(void)state;
	log_init(&log, LOG_LEVEL_NOTICE);
	memset(text, 1, sizeof(text) - 1); /* each byte becomes four */
	text[sizeof(text) - 1] = '\0';
	log_write(&log, LOG_LEVEL_NOTICE, "%s", text);
	assert_in_range(strlen(written()), 1000, 4096);
	assert_int_equal(written()[strlen(written()) - 1], '\n');
}

static void faults_are_limited_and_those_left_out_counted(void **state)
{
	struct log log;

	(void)state;
	log_init(&log, LOG_LEVEL_NOTICE);
	for (unsigned i = 0; i < 50; i++)
		log_fault(&log, 5000 + i, "fault");
	assert_int_equal(count_of(written(), "warning: fault\n"), 20);
	log_write(&log, LOG_LEVEL_NOTICE, "other lines are not"); /* limited */
	log_fault(&log, 5000 + 10000, "later");
	assert_non_null(strstr(written(), "other lines are not\nqad: warning: 30 lines like this were left out\n"
					  "qad: warning: later\n"));
}

static void deeds_have_a_limit_of_their_own(void **state)
{
	struct log log;

	(void)state;
	log_init(&log, LOG_LEVEL_NOTICE);
	for (unsigned i = 0; i < 50; i++)
		log_deed(&log, 5000 + i, "deed");
	assert_int_equal(count_of(written(), "qad: deed\n"), 20);
	log_fault(&log, 5060, "fault");
	log_deed(&log, 5000 + 10000, "later");
	assert_non_null(strstr(written(), "qad: warning: fault\nqad: 30 lines like this were left out\nqad: later\n"));
}

static void troubles_of_its_own_are_told_beside_any_number_of_faults(void **state)
{
	struct log log;

	(void)state;
	log_init(&log, LOG_LEVEL_NOTICE);
	for (unsigned i = 0; i < 50; i++)
		log_fault(&log, 5000 + i, "fault");
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(log_trouble(&log, 5050 + i, "trouble"), i < 20);
	assert_int_equal(count_of(written(), "warning: trouble\n"), 20);
}

/* "device:inode" of stderr, as systemd says it. */
static void set_journal(bool is_other)
{
	struct stat status;
	char stream[64];

	assert_int_equal(fstat(STDERR_FILENO, &status), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)status.st_dev,
		 (unsigned long long)status.st_ino + is_other);
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
}

static void the_journal_is_told_the_level(void **state)
{
	struct log log;

	(void)state;
	set_journal(false);
	log_init(&log, LOG_LEVEL_DEBUG);
	log_write(&log, LOG_LEVEL_ERROR, "one");
	log_fault(&log, 0, "two");
	log_deed(&log, 0, "three");
	log_write(&log, LOG_LEVEL_INFO, "four");
	log_write(&log, LOG_LEVEL_DEBUG, "five");
	assert_string_equal(written(), "<3>qad: error: one\n<4>qad: warning: two\n<5>qad: three\n<6>qad: four\n"
				       "<7>qad: debug: five\n");
}

static void another_file_is_not_the_journal(void **state)
{
	struct log log;

	(void)state;
	set_journal(true);
	log_init(&log, LOG_LEVEL_NOTICE);
	log_write(&log, LOG_LEVEL_ERROR, "one");
	setenv("JOURNAL_STREAM", "not numbers", 1);
	log_init(&log, LOG_LEVEL_NOTICE);
	log_write(&log, LOG_LEVEL_ERROR, "two");
	assert_string_equal(written(), "qad: error: one\nqad: error: two\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_has_its_level, set_up, tear_down),
		cmocka_unit_test_setup_teardown(less_important_ones_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(control_characters_are_escaped_and_texts_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_turns_the_text_is_escaped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_long_line_is_cut_and_still_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(faults_are_limited_and_those_left_out_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(deeds_have_a_limit_of_their_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(troubles_of_its_own_are_told_beside_any_number_of_faults, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_journal_is_told_the_level, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_file_is_not_the_journal, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("qad log", tests, NULL, NULL);
}
