/*
 * trim-delay: what a trim costs. First the other threads: how long their allocations take while trims run, against the
 * same without. Then trim itself: its time against the kernel's alone for the same pages. Reach: p99.99 at most 100 us
 * more; at most 1.2 times the kernel's time.
 */
#include "trim_delay.h"
#include "qa.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 64
#define DELAY_REACH_NS 100000
#define COST_REACH 1.2
#define MIB 1048576.0

static const char help[] =
	"usage: trim-delay [options]\n"
	"\n"
	"How long one thread's allocations take while another runs trims, against the same without; and how\n"
	"much processor time a trim takes, against the kernel's madvise alone for the same pages.\n"
	"\n"
	"  --trims N     trims in all, 1 to 10000 (default 100)\n"
	"  --mib N       memory that the cost of a trim is measured with, 1 to 1024 (default 64)\n"
	"  --rounds N    rounds of that, 1 to 101 (default 9)\n"
	"  --fifo        give the measured thread a real-time priority, so that other programs do not\n"
	"                show as delays; takes the right to do so, and a processor for some seconds\n"
	"  --json        the figures as one object\n"
	"  --help        this text\n"
	"\n"
	"Exit status: 0 measured, 1 failed, 64 not understood.\n";

static const char *const cost_names[COST_KINDS] = {"all freed", "runs survive", "every hundredth survives"};
static const char *const cost_keys[COST_KINDS] = {"all", "runs", "hundredth"};

struct options {
	struct delay_options delay;
	unsigned mib, rounds;
	bool is_json;
};

static unsigned parse_count(const char *text, unsigned max, const char *option)
{
	char *end;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (errno || end == text || *end != '\0' || value < 1 || value > max) {
		fprintf(stderr, "trim-delay: %s takes 1 to %u, not: %s\nTry 'trim-delay --help'.\n", option, max, text);
		exit(EXIT_USAGE);
	}
	return (unsigned)value;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {{"trims", required_argument, NULL, 't'},
					      {"mib", required_argument, NULL, 'm'},
					      {"rounds", required_argument, NULL, 'r'},
					      {"fifo", no_argument, NULL, 'f'},
					      {"json", no_argument, NULL, 'j'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int letter;
	while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (letter == 't')
			options->delay.trims = parse_count(optarg, 10000, "--trims");
		else if (letter == 'm')
			options->mib = parse_count(optarg, 1024, "--mib");
		else if (letter == 'r')
			options->rounds = parse_count(optarg, 101, "--rounds");
		else if (letter == 'f')
			options->delay.is_fifo = true;
		else if (letter == 'j')
			options->is_json = true;
		else if (letter == 'h') {
			fputs(help, stdout);
			exit(0);
		} else {
			fputs("Try 'trim-delay --help'.\n", stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "trim-delay: takes no argument: %s\nTry 'trim-delay --help'.\n", argv[optind]);
		exit(EXIT_USAGE);
	}
}

static void print_histogram(const char *name, const struct histogram *histogram)
{
	printf("  %-14s %10llu %9.2f %9.2f %9.2f %9.2f\n", name, (unsigned long long)histogram->count,
	       (double)histogram_quantile_ns(histogram, 0.5) / 1e3,
	       (double)histogram_quantile_ns(histogram, 0.99) / 1e3,
	       (double)histogram_quantile_ns(histogram, 0.9999) / 1e3, (double)histogram->max_ns / 1e3);
}

static int64_t delay_ns(const struct delay_result *delay)
{
	return (int64_t)histogram_quantile_ns(&delay->with, 0.9999) -
	       (int64_t)histogram_quantile_ns(&delay->without, 0.9999);
}

static void print_text(const struct options *options, const struct delay_result *delay, const struct cost_result *costs)
{
	printf("one thread's allocations, us  (%u trims of %.1f ms, %llu times a thread was skipped%s)\n",
	       options->delay.trims, delay->trim_ms, (unsigned long long)delay->threads_skipped,
	       delay->is_fifo ? ", real-time priority" : "");
	printf("  %-14s %10s %9s %9s %9s %9s\n", "", "count", "p50", "p99", "p99.99", "max");
	print_histogram("without trims", &delay->without);
	print_histogram("with trims", &delay->with);
	printf("  p99.99 %+.1f us (reach: +100)  %s\n\n", (double)delay_ns(delay) / 1e3,
	       delay_ns(delay) <= DELAY_REACH_NS ? "reached" : "missed");
	printf("trim against the kernel's madvise of the same pages, %u rounds (reach: %.1f)\n", options->rounds,
	       COST_REACH);
	for (unsigned i = 0; i < COST_KINDS; i++)
		printf("  %-26s %7.1f MiB in %6llu runs: %7.2f ms against %7.2f ms, ratio %.2f  %s\n", cost_names[i],
		       (double)costs[i].returned_bytes / MIB, (unsigned long long)costs[i].runs, costs[i].trim_ms,
		       costs[i].madvise_ms, costs[i].ratio, costs[i].ratio <= COST_REACH ? "reached" : "missed");
}

static json_t *histogram_json(const struct histogram *histogram)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)histogram->count, "p50_ns",
			 (json_int_t)histogram_quantile_ns(histogram, 0.5), "p99_ns",
			 (json_int_t)histogram_quantile_ns(histogram, 0.99), "p9999_ns",
			 (json_int_t)histogram_quantile_ns(histogram, 0.9999), "max_ns", (json_int_t)histogram->max_ns);
}

static int print_json(const struct delay_result *delay, const struct cost_result *costs)
{
	json_t *cost_list = json_array();
	int error = 0;
	for (unsigned i = 0; i < COST_KINDS; i++)
		error |= json_array_append_new(cost_list,
					       json_pack("{s:s, s:I, s:I, s:f, s:f, s:f}", "survivors", cost_keys[i],
							 "returned_bytes", (json_int_t)costs[i].returned_bytes, "runs",
							 (json_int_t)costs[i].runs, "trim_ms", costs[i].trim_ms,
							 "madvise_ms", costs[i].madvise_ms, "ratio", costs[i].ratio));
	json_t *root = json_pack("{s:o, s:o, s:I, s:I, s:f, s:b, s:o}", "without", histogram_json(&delay->without),
				 "with", histogram_json(&delay->with), "p9999_more_ns", (json_int_t)delay_ns(delay),
				 "threads_skipped", (json_int_t)delay->threads_skipped, "trim_ms", delay->trim_ms,
				 "fifo", delay->is_fifo, "cost", cost_list);
	if (!error && root)
		error = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(root);
	return error || !root ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct delay_result delay;
	struct options options = {{100, 10, (size_t)4 << 20, false}, 64, 9, false};
	struct cost_result costs[COST_KINDS];
	parse_options(argc, argv, &options);
	qa_agent_stop(); /* nothing but what is measured runs here */
	trim_delay_measure(&options.delay, &delay);
	if (options.delay.is_fifo && !delay.is_fifo)
		fputs("trim-delay: no right to a real-time priority; measured without\n", stderr);
	trim_cost_measure((size_t)options.mib << 20, options.rounds, costs);
	if (options.is_json)
		return print_json(&delay, costs);
	print_text(&options, &delay, costs);
	return 0;
}
