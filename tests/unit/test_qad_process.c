/*
 * process.h of qad, on this very process: command names that try to confuse, and pids that are somebody else's now.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "process.h"

static void a_command_may_have_blanks_and_parentheses(void **state)
{
	static const char *const names[] = {"a) R 1 1 (b", ")", "two words", "\x1b[2J", "1 2 3 4 5 6"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct process process;
		struct process_sample sample;

		assert_int_equal(prctl(PR_SET_NAME, names[i]), 0);
		assert_int_equal(process_init(&process, getpid()), 0);
		assert_string_equal(process.command, names[i]);
		assert_int_equal(process_sample(getpid(), process.start_ticks, &sample), 0);
		assert_in_range(sample.rss_bytes, 100 << 10, 1 << 30);
		assert_in_range(sample.uptime_s, 0, 600);
		process_finish(&process);
	}
}

static void a_command_that_is_not_utf8_is_repaired(void **state)
{
	struct process process;

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "x\xffy"), 0);
	assert_int_equal(process_init(&process, getpid()), 0);
	assert_string_equal(process.command, "x\xef\xbf\xbdy");
	process_finish(&process);
}

static void the_same_pid_with_another_start_is_another_process(void **state)
{
	struct process process;
	struct process_sample sample;

	(void)state;
	assert_int_equal(process_init(&process, getpid()), 0);
	assert_int_equal(process_sample(getpid(), process.start_ticks + 1, &sample), -ESRCH);
	process_finish(&process);
}

static void a_process_that_ended_is_not_there(void **state)
{
	struct process process;
	struct process_sample sample;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(process_init(&process, child), -ESRCH);
	assert_int_equal(process_sample(child, 1, &sample), -ESRCH);
}

static void exe_and_cgroup_are_texts(void **state)
{
	struct process process;

	(void)state;
	assert_int_equal(process_init(&process, getpid()), 0);
	assert_non_null(strstr(process.exe, "test_qad_process"));
	assert_non_null(process.cgroup);
	assert_null(strchr(process.cgroup, '\n'));
	process_finish(&process);
}

static void the_kernel_tells_who_connected(void **state)
{
	struct identity identity;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(identity_of_socket(pair[0], &identity), 0);
	assert_int_equal(identity.pid, getpid());
	assert_int_equal(identity.uid, geteuid());
	assert_int_equal(identity.gid, getegid());
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(identity_of_socket(-1, &identity), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_may_have_blanks_and_parentheses),
		cmocka_unit_test(a_command_that_is_not_utf8_is_repaired),
		cmocka_unit_test(the_same_pid_with_another_start_is_another_process),
		cmocka_unit_test(a_process_that_ended_is_not_there),
		cmocka_unit_test(exe_and_cgroup_are_texts),
		cmocka_unit_test(the_kernel_tells_who_connected),
	};

	return cmocka_run_group_tests_name("qad process", tests, NULL, NULL);
}
