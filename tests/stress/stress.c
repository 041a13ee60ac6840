/*
 * A case that runs in a fresh program is named by argument: the parent executes /proc/self/exe again.
 */
#include "stress.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap.h"

enum { CHILD_SECONDS = TIMES(100, 300) };

/*
 * A child of a program with threads may have threads, and has not joined those that are its parent's. ThreadSanitizer
 * asks for this name.
 */
const char *__tsan_default_options(void);

__attribute__((visibility("default"))) const char *__tsan_default_options(void)
{
	return "die_after_fork=0:report_thread_leaks=0";
}

void stress_expect(uint64_t a, const char *relation, uint64_t b, const char *text, const char *file, int line)
{
	if (relation[0] == '=' ? a == b : a <= b)
		return;
	char message[400];
	int length = snprintf(message, sizeof message, "%s:%d: not %s: %llu, %llu\n", file, line, text,
			      (unsigned long long)a, (unsigned long long)b);
	ssize_t written = write(STDERR_FILENO, message, (size_t)length);
	(void)written;
	abort();
}

void stress_watch(unsigned seconds)
{
	alarm(TIMES(seconds, seconds * 5));
}

int stress_wait(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		expect_equal(errno, EINTR);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void stress_in_child(void (*body)(void))
{
	pid_t pid = fork();
	expect_true(pid >= 0);
	if (pid == 0) {
		alarm(CHILD_SECONDS);
		body();
		_exit(0);
	}
	assert_int_equal(stress_wait(pid), 0);
}

void stress_in_program(const struct stress_case *what)
{
	pid_t pid = fork();
	expect_true(pid >= 0);
	if (pid == 0) {
		alarm(CHILD_SECONDS);
		if (what->environment)
			putenv((char *)(uintptr_t)what->environment);
		if (what->prepare)
			what->prepare();
		execl("/proc/self/exe", "stress", "--case", what->name, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(stress_wait(pid), 0);
}

void stress_run_case(int argc, char **argv, const struct stress_case *cases, size_t count)
{
	if (argc != 3 || strcmp(argv[1], "--case") != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(cases[i].name, argv[2]) == 0) {
			cases[i].body();
			_exit(0);
		}
	}
	_exit(126);
}

struct figures {
	struct qa_stats total;
	struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	size_t count;
};

static void show_row(const struct qa_class_stats *row)
{
	fprintf(stderr, "row %lu %s: pages %lu held %lu used %lu thread %lu partial %ld empty %ld slack %ld\n",
		(unsigned long)row->block_size, row->name, (unsigned long)row->pages, (unsigned long)row->held_bytes,
		(unsigned long)row->used_bytes, (unsigned long)row->thread_bytes, (long)row->partial_bytes,
		(long)row->empty_bytes, (long)row->slack_bytes);
}

static void read_figures(struct figures *figures)
{
	struct qa_stats sum = {0};
	figures->count = qa_stats(&figures->total, figures->rows, QA_STATS_ROWS_MAX);
	expect_at_most(figures->count, QA_STATS_ROWS_MAX);
	for (size_t i = 0; i < figures->count; i++) {
		const struct qa_class_stats *row = &figures->rows[i];
		uint64_t cached_bytes = row->thread_bytes + row->partial_bytes + row->empty_bytes + row->slack_bytes;
		if (row->partial_bytes > row->held_bytes || row->slack_bytes > row->held_bytes)
			show_row(row); /* a part below zero would be a huge number */
		expect_equal(row->held_bytes, row->used_bytes + row->cached_bytes);
		expect_equal(row->cached_bytes, cached_bytes);
		expect_at_most(row->thread_bytes, row->held_bytes);
		expect_at_most(row->empty_bytes, row->held_bytes);
		expect_at_most(row->slack_bytes, row->held_bytes);
		expect_at_most(row->partial_bytes, row->held_bytes);
		if (row->block_size > 0) {
			expect_equal(row->used_bytes, row->used_blocks * row->block_size);
			expect_at_most(row->held_bytes, row->pages * figures->total.page_size);
		}
		sum.held_bytes += row->held_bytes;
		sum.used_bytes += row->used_bytes;
		sum.thread_bytes += row->thread_bytes;
	}
	expect_equal(figures->total.held_bytes, sum.held_bytes);
	expect_equal(figures->total.used_bytes, sum.used_bytes);
	expect_equal(figures->total.thread_bytes, sum.thread_bytes);
	expect_equal(figures->total.held_bytes, figures->total.used_bytes + figures->total.cached_bytes);
}

struct qa_stats stress_figures(void)
{
	struct figures figures;
	read_figures(&figures);
	return figures.total;
}

static struct qa_class_stats find_row(uint64_t block_size, const char *name)
{
	struct figures figures;
	read_figures(&figures);
	for (size_t i = 0; i < figures.count; i++)
		if (strcmp(figures.rows[i].name, name) == 0 && (name[0] || figures.rows[i].block_size == block_size))
			return figures.rows[i];
	expect_true(!"no such row");
	abort();
}

struct qa_class_stats stress_row(uint64_t block_size)
{
	return find_row(block_size, "");
}

struct qa_class_stats stress_pool_row(const char *name)
{
	return find_row(0, name);
}

unsigned stress_heaps(void)
{
	unsigned heaps = 0;
	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		heaps++;
	return heaps;
}

unsigned stress_count_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned lines = 0;
	expect_true(file != NULL);
	for (int c; (c = fgetc(file)) != EOF;)
		lines += c == '\n';
	fclose(file);
	return lines;
}

unsigned stress_count_entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned entries = 0;
	expect_true(folder != NULL);
	while (readdir(folder))
		entries++;
	closedir(folder);
	return entries;
}

static unsigned char byte_of(const void *block, unsigned seed)
{
	return (unsigned char)(((uintptr_t)block >> 3) * 31 + seed);
}

void stress_fill(void *block, size_t size, unsigned seed)
{
	expect_true(block != NULL);
	memset(block, byte_of(block, seed), size);
}

void stress_check(const void *block, size_t size, unsigned seed)
{
	const unsigned char *bytes = block;
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != byte_of(block, seed))
			expect_equal(bytes[i], byte_of(block, seed));
}

static void test_case(void **state)
{
	stress_in_program(*state);
}

int stress_main(int argc, char **argv, const struct stress_case *cases, size_t count)
{
	struct CMUnitTest tests[count];
	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){cases[i].name, test_case, NULL, NULL, (void *)(uintptr_t)&cases[i]};
	stress_run_case(argc, argv, cases, count);
	stress_watch(170);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
