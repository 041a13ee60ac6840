/*
 * Sleeping until a socket may have appeared: what is an event and what is not, folders that are missing on the way,
 * folders that go, and places that can not be watched.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent_watch.h"

static char top[32];
static struct agent_watch watch;
static struct qp_address address;

static const char *path_of(const char *name)
{
	static char path[sizeof top + 256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void touch(const char *name)
{
	int fd = open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void make(const char *name)
{
	assert_int_equal(mkdir(path_of(name), 0700), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/qa-XXXXXX");
	agent_watch_init(&watch);
	return mkdtemp(top) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	char command[64];

	agent_watch_disarm(&watch);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void arm(const char *name)
{
	assert_int_equal(qp_address_set(&address, path_of(name)), 0);
	agent_watch_arm(&watch, &address, 1, true);
	assert_true(watch.fd >= 0);
	assert_int_equal(watch.count, 1);
	assert_false(watch.has_blind_spot);
	assert_false(agent_watch_take(&watch));
}

static bool would_wake(void)
{
	struct pollfd fd = {.fd = watch.fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

static void test_the_socket_and_other_names(void **state)
{
	(void)state;
	arm("q");
	touch("other");
	assert_true(would_wake());
	assert_false(agent_watch_take(&watch));
	assert_false(would_wake());
	touch("q2");
	assert_false(agent_watch_take(&watch));
	touch("q");
	assert_true(agent_watch_take(&watch));
}

static void test_renamed_into_place_and_permissions(void **state)
{
	(void)state;
	char from[128];

	arm("q");
	touch("q.new");
	assert_false(agent_watch_take(&watch));
	strcpy(from, path_of("q.new"));
	assert_int_equal(rename(from, path_of("q")), 0);
	assert_true(agent_watch_take(&watch));
	arm("q");
	assert_int_equal(chmod(path_of("q"), 0666), 0);
	assert_true(agent_watch_take(&watch));
}

static void test_many_events_at_once(void **state)
{
	(void)state;
	char name[256];

	arm("q");
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "a-name-that-takes-some-room-in-the-array-of-events-%d", i);
		touch(name);
	}
	assert_false(agent_watch_take(&watch));
	touch("another");
	touch("q");
	assert_true(agent_watch_take(&watch));
}

static void test_folders_that_are_missing(void **state)
{
	(void)state;
	arm("a/b/q");
	touch("b");
	touch("q");
	assert_false(agent_watch_take(&watch));
	make("a");
	assert_true(agent_watch_take(&watch));
	arm("a/b/q");
	touch("a/q");
	assert_false(agent_watch_take(&watch));
	make("a/b");
	assert_true(agent_watch_take(&watch));
	arm("a/b/q");
	touch("a/b/q");
	assert_true(agent_watch_take(&watch));
}

static void test_folder_that_goes(void **state)
{
	(void)state;
	char from[128];

	make("a");
	arm("a/q");
	assert_int_equal(rmdir(path_of("a")), 0);
	assert_true(agent_watch_take(&watch));
	make("a");
	arm("a/q");
	strcpy(from, path_of("a"));
	assert_int_equal(rename(from, path_of("b")), 0);
	assert_true(agent_watch_take(&watch));
}

/* Of the addresses that nobody chose, the user's folders are made, unless they can not be trusted. */
static void test_default_addresses(void **state)
{
	(void)state;
	struct qp_address addresses[QP_ADDRESSES];
	struct stat status;

	assert_int_equal(qp_address_set(&addresses[0], path_of("system/q")), 0);
	assert_int_equal(qp_address_set(&addresses[1], path_of("mine/q")), 0);
	assert_int_equal(qp_address_set(&addresses[2], path_of("open/q")), 0);
	make("open");
	assert_int_equal(chmod(path_of("open"), 0777), 0);
	agent_watch_arm(&watch, addresses, 3, false);
	assert_int_equal(watch.count, 2);
	assert_false(watch.has_blind_spot);
	assert_int_equal(stat(path_of("system"), &status), -1);
	assert_int_equal(stat(path_of("mine"), &status), 0);
	touch("open/q");
	assert_false(agent_watch_take(&watch));
	touch("mine/q");
	assert_true(agent_watch_take(&watch));
}

static void test_places_that_can_not_be_watched(void **state)
{
	(void)state;
	struct rlimit limit, low;

	/* A file where a folder should be. */
	touch("f");
	assert_int_equal(qp_address_set(&address, path_of("f/q")), 0);
	agent_watch_arm(&watch, &address, 1, true);
	assert_int_equal(watch.count, 0);
	assert_true(watch.has_blind_spot);

	/* No descriptor left, as when the user's inotify instances are used up. */
	agent_watch_disarm(&watch);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	agent_watch_arm(&watch, &address, 1, true);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(watch.fd, -1);
	assert_true(watch.has_blind_spot);

	agent_watch_disarm(&watch);
	assert_false(watch.has_blind_spot);
	arm("q");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_socket_and_other_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_renamed_into_place_and_permissions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_events_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_folders_that_are_missing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_folder_that_goes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_default_addresses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_places_that_can_not_be_watched, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("agent_watch", tests, NULL, NULL);
}
