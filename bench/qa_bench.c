/*
 * qa-bench: libqa and its peers side by side. Each workload runs for each allocator in a fresh process, round after
 * round; within a round the allocators take turns, beginning with another one each round, so that a slow minute of the
 * machine hits all of them.
 */
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 64
#define EXIT_USAGE 64

#define DEFAULT_ROUNDS 11
#define DEFAULT_WORK_MS 100
#define QUICK_ROUNDS 5
#define QUICK_WORK_MS 20

struct options {
	size_t rounds; /* 0: by is_quick */
	double work_ms;
	bool is_quick, is_json, is_list, is_summary;
	size_t workload_names, allocator_names; /* 0: all */
	const char *workloads[NAMES_MAX], *allocators[NAMES_MAX];
};

static const char help[] =
	"usage: qa-bench [options]\n"
	"\n"
	"Measures libqa and its peers in one run and prints a table. Each measurement is a process of its own;\n"
	"within a round the allocators take turns. A peer that is not installed is left out, with a note.\n"
	"\n"
	"  --quick             5 rounds of short processes: ends within 60 s (default: 11 longer ones, minutes)\n"
	"  --rounds N          1 to 101\n"
	"  --work-ms MS        about how long each process works\n"
	"  --workload NAME     only this one; may be given again\n"
	"  --allocator NAME    only this one; may be given again\n"
	"  --peer NAME=LIBRARY one more peer, a malloc in a shared library; may be given again\n"
	"  --compare FOLDER    also libqa of another build: FOLDER is its bench folder; its rows end in -other\n"
	"  --summary           one line a workload: medians, ratios; a star where the aim is missed\n"
	"  --json              a list of {workload, allocator, ns_per_op, peak_rss_bytes, after_rss_bytes, ...}\n"
	"  --list              print the names of workloads and allocators, and run nothing\n"
	"  --help              this text\n"
	"\n"
	"ns_per_op is a median, with the lowest beside it: on a busy machine trust the lowest and the ratios.\n"
	"Exit status: 0 done, 1 a measurement failed, 64 not understood.\n";

static void __attribute__((noreturn)) usage_error(const char *what, const char *value)
{
	fprintf(stderr, "qa-bench: %s: %s\nTry 'qa-bench --help'.\n", what, value);
	exit(EXIT_USAGE);
}

static double parse_number(const char *text, double min, double max, const char *what)
{
	char *end;
	errno = 0;
	double value = strtod(text, &end);
	if (errno || end == text || *end != '\0' || !(value >= min && value <= max))
		usage_error(what, text);
	return value;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {{"quick", no_argument, NULL, 'q'},
					      {"rounds", required_argument, NULL, 'r'},
					      {"work-ms", required_argument, NULL, 'm'},
					      {"workload", required_argument, NULL, 'w'},
					      {"allocator", required_argument, NULL, 'a'},
					      {"peer", required_argument, NULL, 'p'},
					      {"json", no_argument, NULL, 'j'},
					      {"list", no_argument, NULL, 'l'},
					      {"summary", no_argument, NULL, 's'},
					      {"compare", required_argument, NULL, 'c'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int letter;
	while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (letter == 'q')
			options->is_quick = true;
		else if (letter == 'r')
			options->rounds = (size_t)parse_number(optarg, 1, ROUNDS_MAX, "--rounds takes 1 to 101, not");
		else if (letter == 'm')
			options->work_ms = parse_number(optarg, 0.01, 10000, "--work-ms takes 0.01 to 10000, not");
		else if (letter == 'w' && options->workload_names < NAMES_MAX)
			options->workloads[options->workload_names++] = optarg;
		else if (letter == 'a' && options->allocator_names < NAMES_MAX)
			options->allocators[options->allocator_names++] = optarg;
		else if (letter == 'p') {
			if (!allocator_add_peer(optarg))
				usage_error("--peer takes NAME=LIBRARY with a new name, not", optarg);
		} else if (letter == 'c') {
			if (!allocator_add_build(optarg))
				usage_error("--compare may be given once, not again for", optarg);
		} else if (letter == 'j')
			options->is_json = true;
		else if (letter == 's')
			options->is_summary = true;
		else if (letter == 'l')
			options->is_list = true;
		else if (letter == 'h') {
			fputs(help, stdout);
			exit(0);
		} else {
			fputs("Try 'qa-bench --help'.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc)
		usage_error("takes no argument", argv[optind]);
}

static void check_names(const struct options *options)
{
	for (size_t i = 0; i < options->workload_names; i++) {
		if (!workload_find(options->workloads[i]))
			usage_error("no such workload (see --list)", options->workloads[i]);
	}
	for (size_t i = 0; i < options->allocator_names; i++) {
		if (!allocator_find(options->allocators[i]))
			usage_error("no such allocator (see --list)", options->allocators[i]);
	}
}

static bool is_wanted(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return count == 0;
}

static void print_list(void)
{
	puts("workloads");
	for (size_t i = 0; i < workload_count; i++)
		printf("  %-18s %s\n", workloads[i].name, workloads[i].text);
	puts("allocators");
	for (size_t i = 0; i < allocator_count; i++) {
		allocator_probe(&allocators[i]);
		printf("  %-18s %s\n", allocators[i].name, allocators[i].missing);
	}
}

/* The cells to fill: what is wanted, possible and here. False: out of memory. */
static bool results_init(struct results *results, const struct options *options)
{
	results->cells = calloc(workload_count * allocator_count, sizeof results->cells[0]);
	for (size_t i = 0; results->cells && i < workload_count; i++) {
		for (size_t j = 0; j < allocator_count; j++) {
			struct cell *cell = &results->cells[results->count];
			if (allocators[j].missing[0] != '\0' || !allocator_can(&allocators[j], &workloads[i]) ||
			    !is_wanted(workloads[i].name, options->workloads, options->workload_names) ||
			    !is_wanted(allocators[j].name, options->allocators, options->allocator_names))
				continue;
			*cell = (struct cell){&workloads[i], &allocators[j], 0,
					      calloc(results->rounds, sizeof cell->samples[0])};
			if (!cell->samples)
				return false;
			results->count++;
		}
	}
	return results->cells != NULL;
}

static void results_finish(struct results *results)
{
	for (size_t i = 0; i < results->count; i++)
		free(results->cells[i].samples);
	free(results->cells);
}

static bool measure(struct cell *cell, double work_ms)
{
	const struct runner_order order = {cell->allocator, cell->workload, work_ms, false};
	char message[256];
	if (runner_run(&order, &cell->samples[cell->count], message, sizeof message)) {
		cell->count++;
		return true;
	}
	fprintf(stderr, "qa-bench: %s, %s: %s\n", cell->workload->name, cell->allocator->name, message);
	return false;
}

/* All cells of one workload, beginning with another one each round. Returns how many failed. */
static size_t measure_workload(struct cell *cells, size_t count, size_t round, double work_ms)
{
	size_t failures = 0;
	for (size_t i = 0; i < count; i++)
		failures += !measure(&cells[(i + round) % count], work_ms);
	return failures;
}

static size_t measure_round(struct results *results, size_t round, double work_ms)
{
	size_t failures = 0, first = 0;
	while (first < results->count) {
		size_t count = 1;
		while (first + count < results->count &&
		       results->cells[first + count].workload == results->cells[first].workload)
			count++;
		failures += measure_workload(&results->cells[first], count, round, work_ms);
		first += count;
	}
	return failures;
}

static size_t measure_all(struct results *results, double work_ms)
{
	bool is_shown = isatty(STDERR_FILENO);
	size_t failures = 0;
	for (size_t round = 0; round < results->rounds; round++) {
		if (is_shown)
			fprintf(stderr, "\rround %zu of %zu ", round + 1, results->rounds);
		failures += measure_round(results, round, work_ms);
	}
	if (is_shown)
		fputs("\r                      \r", stderr);
	return failures;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct results results = {0};
	int status = 1;
	parse_options(argc, argv, &options);
	check_names(&options);
	if (options.is_list) {
		print_list();
		return 0;
	}
	results.rounds = options.rounds ? options.rounds : options.is_quick ? QUICK_ROUNDS : DEFAULT_ROUNDS;
	double work_ms = options.work_ms > 0 ? options.work_ms : options.is_quick ? QUICK_WORK_MS : DEFAULT_WORK_MS;
	for (size_t i = 0; i < allocator_count; i++) {
		if (is_wanted(allocators[i].name, options.allocators, options.allocator_names))
			allocator_probe(&allocators[i]);
		if (allocators[i].missing[0] != '\0' && options.is_json)
			fprintf(stderr, "qa-bench: left out: %s: %s\n", allocators[i].name, allocators[i].missing);
	}
	if (!results_init(&results, &options)) {
		fputs("qa-bench: out of memory\n", stderr);
		goto out;
	}
	size_t failures = measure_all(&results, work_ms);
	bool is_printed = true;
	if (options.is_json)
		is_printed = report_json(&results);
	else if (options.is_summary)
		report_summary(&results);
	else
		report_table(&results);
	status = failures > 0 || !is_printed;
out:
	results_finish(&results);
	return status;
}
