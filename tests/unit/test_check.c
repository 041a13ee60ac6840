/*
 * Faults of programs are told: those that are always looked for, and those that QA_CHECK=1 finds. Each case runs in a
 * child, which must abort with the message; a program without a fault runs through.
 */
#include "qa_check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void no_fault(void)
{
	static void *blocks[3000];

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 3000; i++) {
			size_t size = (size_t)(i * 37 % 3000);
			blocks[i] = qa_malloc(size);
			pattern_write(blocks[i], size, 1);
			pattern_check(blocks[i], qa_usable_size(blocks[i]) < size ? 0 : size, 1);
		}
		for (int i = 0; i < 3000; i++)
			qa_free(blocks[i]);
	}
	for (size_t align = 8; align <= 4096; align *= 2) {
		void *block = qa_alloc(align * 3, align);
		if ((uintptr_t)block % align != 0 || qa_usable_size(block) < align * 3)
			_exit(1);
		qa_dealloc(block, align * 3, align);
	}
	struct qa_stats stats;
	struct qa_class_stats rows[QA_CHECK_ROWS];
	check_stats(&stats, rows);
	if (stats.used_bytes != 0 || stats.allocs != stats.frees)
		_exit(2);
	struct qa_trim_result result;
	qa_trim(NULL, &result);
	if (result.held_after_bytes != 0)
		_exit(3);
}

static void not_a_block(void)
{
	static char bytes[64];
	qa_free(bytes + 16);
}

static void not_a_block_far_away(void)
{
	qa_free((void *)(uintptr_t)0xdeadbeefcafe0);
}

static void inside_a_large_block(void)
{
	qa_free((char *)qa_malloc(1000000) + 65536);
}

static void large_twice(void)
{
	void *block = qa_malloc(1000000);
	qa_free(block);
	qa_free(block);
}

static void twice_in_a_row(void)
{
	void *block = qa_alloc(48, 8);
	qa_dealloc(block, 48, 8);
	qa_dealloc(block, 48, 8);
}

static void twice_at_some_time(void)
{
	void *block = qa_malloc(48), *other = qa_malloc(48);
	qa_free(block);
	qa_free(other);
	qa_free(block);
	qa_trim(NULL, NULL);
}

static void wrong_size(void)
{
	qa_dealloc(qa_alloc(100, 8), 40, 8);
	qa_trim(NULL, NULL);
}

static void wrong_size_of_a_pool(void)
{
	struct qa_pool *pool = qa_pool_create("pool", 40, 8);
	qa_pool_free(pool, qa_malloc(40));
	qa_trim(NULL, NULL);
}

static void inside_of_a_block(void)
{
	qa_free((char *)qa_malloc(200) + 16);
	qa_trim(NULL, NULL);
}

static void write_after_free(void)
{
	char *block = qa_malloc(100);
	qa_free(block);
	block[0] = 1;
	qa_trim(NULL, NULL);
}

static void write_after_free_much_later(void)
{
	char *block = qa_malloc(100);
	qa_free(block);
	block[99] = 1;
	for (int i = 0; i < 20000; i++)
		qa_free(qa_malloc(64));
}

static void overrun_by_one(void)
{
	volatile size_t size = 24;
	char *block = qa_alloc(size, 8);
	block[size] = 1;
	qa_dealloc(block, 24, 8);
}

static void overrun_of_a_larger_block(void)
{
	volatile size_t size = 4096;
	char *block = qa_malloc(size);
	block[size + 100] = 1;
	qa_free(block);
}

struct fault {
	const char *name;
	void (*run)(void);
	const char *message; /* with QA_CHECK=1 */
	bool is_always;      /* found without, too (then in words of its own) */
};

static const struct fault faults[] = {
	{"not a block", not_a_block, "not a block of libqa", true},
	{"not a block, far away", not_a_block_far_away, "not a block of libqa", true},
	{"inside of a large block", inside_a_large_block, "not a block of libqa", true},
	{"a large block twice", large_twice, "freed before", true},
	{"twice in a row", twice_in_a_row, "freed twice", true},
	{"twice at some time", twice_at_some_time, "freed twice", true},
	{"wrong size", wrong_size, "wrong size", true},
	{"wrong size of a pool", wrong_size_of_a_pool, "wrong size", true},
	{"inside of a block", inside_of_a_block, "not the start of a block", true},
	{"write after free", write_after_free, "written to after it was freed", false},
	{"write after free, much later", write_after_free_much_later, "written to after it was freed", false},
	{"overrun by one byte", overrun_by_one, "written to behind its end", false},
	{"overrun of a larger block", overrun_of_a_larger_block, "written to behind its end", false},
};

/* Runs in a child; its wait status, and what it wrote to stderr. */
static int run_child(void (*run)(void), const char *check, char *output, size_t size)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct rlimit no_core = {0, 0};
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(ends[1], STDERR_FILENO);
		if (qa_set("QA_CHECK", check) != 0)
			_exit(99);
		run();
		_exit(0);
	}
	close(ends[1]);
	size_t used = 0;
	for (ssize_t got; used + 1 < size && (got = read(ends[0], output + used, size - 1 - used)) > 0;)
		used += (size_t)got;
	output[used] = '\0';
	close(ends[0]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_no_fault_runs_through(void **state)
{
	(void)state;
	char output[4096];

	assert_int_equal(run_child(no_fault, "1", output, sizeof output), 0);
	assert_string_equal(output, "");
	assert_int_equal(run_child(no_fault, "0", output, sizeof output), 0);
}

/* With AddressSanitizer a test has told it which bytes are whose, and is ended by it at the fault itself. */
static bool is_told_by_asan(const char *output)
{
	return strstr(output, "AddressSanitizer: use-after-poison") != NULL;
}

static void test_every_fault_is_told(void **state)
{
	(void)state;
	char output[4096];

	for (size_t i = 0; i < COUNT(faults); i++) {
		for (int check = 1; check >= !faults[i].is_always; check--) {
			int status = run_child(faults[i].run, check ? "1" : "0", output, sizeof output);
			if (check && is_told_by_asan(output))
				continue;
			if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
				fail_msg("%s, QA_CHECK=%d: no abort, status %d, \"%s\"", faults[i].name, check, status,
					 output);
			if (strncmp(output, "libqa: ", 7) != 0 || (check && !strstr(output, faults[i].message)))
				fail_msg("%s, QA_CHECK=%d: \"%s\"", faults[i].name, check, output);
			if (!strstr(output, "0x"))
				fail_msg("%s: no address in \"%s\"", faults[i].name, output);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_fault_runs_through),
		cmocka_unit_test(test_every_fault_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
