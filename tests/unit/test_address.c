/*
 * Addresses: the order of candidates, what does not fit, the server's choice, and which directories are trusted.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "address.h"

static char of_user[64]; /* the last candidate of this user */

static int clear_environment(void **state)
{
	(void)state;
	unsetenv("QAD_SOCKET");
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(of_user, sizeof(of_user), "/tmp/qad-%u/qad.sock", (unsigned)geteuid());
	return 0;
}

static void test_candidates(void **state)
{
	(void)state;
	struct qp_address addresses[QP_ADDRESSES];

	assert_int_equal(qp_address_candidates(addresses), 2);
	assert_string_equal(addresses[0].path, "/run/qad/qad.sock");
	assert_string_equal(addresses[1].path, of_user);

	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	assert_int_equal(qp_address_candidates(addresses), 3);
	assert_string_equal(addresses[0].path, "/run/qad/qad.sock");
	assert_string_equal(addresses[1].path, "/run/user/7/qad/qad.sock");
	assert_string_equal(addresses[2].path, of_user);

	setenv("QAD_SOCKET", "/somewhere/q", 1);
	assert_int_equal(qp_address_candidates(addresses), 1);
	assert_string_equal(addresses[0].path, "/somewhere/q");

	setenv("QAD_SOCKET", "", 1);
	assert_int_equal(qp_address_candidates(addresses), 3);
}

static void test_what_does_not_fit(void **state)
{
	(void)state;
	struct qp_address addresses[QP_ADDRESSES];
	char path[QP_ADDRESS_BYTES + 2];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[QP_ADDRESS_BYTES + 1] = '\0';
	setenv("QAD_SOCKET", path, 1);
	assert_int_equal(qp_address_candidates(addresses), -ENAMETOOLONG);
	assert_int_equal(qp_address_of_server(&addresses[0]), -ENAMETOOLONG);
	path[QP_ADDRESS_BYTES] = '\0';
	setenv("QAD_SOCKET", path, 1);
	assert_int_equal(qp_address_candidates(addresses), 1);
	assert_string_equal(addresses[0].path, path);
	unsetenv("QAD_SOCKET");

	/* With "/qad/qad.sock", 13 bytes, it fits exactly, and then not. */
	path[QP_ADDRESS_BYTES - 13] = '\0';
	setenv("XDG_RUNTIME_DIR", path, 1);
	assert_int_equal(qp_address_candidates(addresses), 3);
	assert_int_equal(strlen(addresses[1].path), QP_ADDRESS_BYTES);
	path[QP_ADDRESS_BYTES - 13] = 'x';
	path[QP_ADDRESS_BYTES - 12] = '\0';
	setenv("XDG_RUNTIME_DIR", path, 1);
	assert_int_equal(qp_address_candidates(addresses), 2);
	assert_string_equal(addresses[1].path, of_user);
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	assert_int_equal(qp_address_candidates(addresses), 2);
	setenv("XDG_RUNTIME_DIR", "", 1);
	assert_int_equal(qp_address_candidates(addresses), 2);
}

static void test_of_server(void **state)
{
	(void)state;
	struct qp_address address;

	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	assert_int_equal(qp_address_of_server(&address), 0);
	assert_string_equal(address.path, geteuid() == 0 ? "/run/qad/qad.sock" : "/run/user/7/qad/qad.sock");
	unsetenv("XDG_RUNTIME_DIR");
	assert_int_equal(qp_address_of_server(&address), 0);
	assert_string_equal(address.path, geteuid() == 0 ? "/run/qad/qad.sock" : of_user);
	setenv("QAD_SOCKET", "q", 1);
	assert_int_equal(qp_address_of_server(&address), 0);
	assert_string_equal(address.path, "q");
}

static void test_set(void **state)
{
	(void)state;
	struct qp_address address;

	assert_int_equal(qp_address_set(&address, ""), -EINVAL);
	assert_int_equal(qp_address_set(&address, "/a"), 0);
	assert_string_equal(address.path, "/a");
}

static void test_directory(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"/a/b/c", "/a/b"}, {"/a", "/"}, {"a", "."}, {"a/b", "a"}, {"/a//b", "/a"}, {"//b", "/"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char directory[QP_ADDRESS_BYTES + 1];
		struct qp_address address;

		qp_address_set(&address, cases[i][0]);
		qp_address_directory(&address, directory);
		assert_string_equal(directory, cases[i][1]);
	}
}

static void test_make_and_check_directory(void **state)
{
	(void)state;
	char top[] = "/tmp/qa-XXXXXX", path[64], other[64];
	struct qp_address address;
	struct stat status;

	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/d/q.sock", top);
	qp_address_set(&address, path);
	snprintf(path, sizeof(path), "%s/d", top);
	snprintf(other, sizeof(other), "%s/e", top);

	assert_int_equal(qp_address_check_directory(&address), -ENOENT);
	assert_int_equal(qp_address_make_directory(&address), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
	assert_int_equal(qp_address_make_directory(&address), 0);

	/* Open to others, a link, a file, of another user. */
	assert_int_equal(chmod(path, 0750), 0);
	assert_int_equal(qp_address_make_directory(&address), -EPERM);
	assert_int_equal(chmod(path, 0701), 0);
	assert_int_equal(qp_address_check_directory(&address), -EPERM);
	assert_int_equal(chmod(path, 0700), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 0), 0);
		assert_int_equal(qp_address_make_directory(&address), -EPERM);
	}
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(qp_address_make_directory(&address), -EPERM);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/nowhere/at/all", path), 0);
	assert_int_equal(qp_address_make_directory(&address), -EPERM);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(other), 0);

	/* The parent is missing. */
	assert_int_equal(rmdir(top), 0);
	assert_int_equal(qp_address_make_directory(&address), -ENOENT);
	/* Elsewhere nothing is checked. */
	qp_address_set(&address, "/usr/q.sock");
	assert_int_equal(qp_address_make_directory(&address), 0);
	qp_address_set(&address, "/tmp/q.sock");
	assert_int_equal(qp_address_check_directory(&address), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_candidates, clear_environment),
		cmocka_unit_test_setup(test_what_does_not_fit, clear_environment),
		cmocka_unit_test_setup(test_of_server, clear_environment),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_make_and_check_directory),
	};

	return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
