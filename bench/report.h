/* The results for people and for programs, on stdout. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "results.h"

void report_table(const struct results *results);
/* One line per workload. */
void report_summary(const struct results *results);
/* False: out of memory. */
bool report_json(const struct results *results);

#endif
