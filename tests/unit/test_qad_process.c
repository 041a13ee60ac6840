/*
 * process.h of qad, on this very process: command names that try to confuse, and pids that are somebody else's now.
 */
#include <errno.h>
#include <signal.h>
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
		assert_int_equal(process_init(&process, getpid(), true), 0);
		assert_string_equal(process.command, names[i]);
		assert_int_equal(process_sample(&process, &sample), 0);
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
	assert_int_equal(process_init(&process, getpid(), true), 0);
	assert_string_equal(process.command, "x\xef\xbf\xbdy");
	process_finish(&process);
}

static void the_same_pid_with_another_start_is_another_process(void **state)
{
	struct process process;
	struct process_sample sample;

	(void)state;
	assert_int_equal(process_init(&process, getpid(), false), 0);
	assert_int_equal(process.statm, -1);
	assert_int_equal(process_sample(&process, &sample), 0);
	assert_in_range(sample.rss_bytes, 100 << 10, 1 << 30);
	process.start_ticks++;
	assert_int_equal(process_sample(&process, &sample), -ESRCH);
	process_finish(&process);
}

/* A child that waits to be killed. */
static pid_t make_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	return child;
}

static void kill_child(pid_t child)
{
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void a_process_that_ended_is_not_there(void **state)
{
	struct process kept, reopened, late;
	struct process_sample sample;
	pid_t child = make_child();

	(void)state;
	assert_int_equal(process_init(&kept, child, true), 0);
	assert_int_equal(process_init(&reopened, child, false), 0);
	assert_true(kept.statm >= 0);
	kill_child(child);
	assert_int_equal(process_sample(&kept, &sample), -ESRCH);
	assert_int_equal(process_sample(&reopened, &sample), -ESRCH);
	assert_int_equal(process_init(&late, child, true), -ESRCH);
	process_finish(&kept);
	process_finish(&reopened);
}

static void exe_and_cgroup_are_texts(void **state)
{
	struct process process;

	(void)state;
	assert_int_equal(process_init(&process, getpid(), true), 0);
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

static void the_kernel_tells_whether_it_lives(void **state)
{
	struct identity identity;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(identity_of_socket(pair[0], &identity), 0);
	assert_true(identity_is_alive(pair[0], &identity));
	close(pair[0]);
	close(pair[1]);
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
		cmocka_unit_test(the_kernel_tells_whether_it_lives),
	};

	return cmocka_run_group_tests_name("qad process", tests, NULL, NULL);
}
