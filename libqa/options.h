/*
 * options.h - the settings: one row each in options.c, from the environment or by qa_set.
 */
#ifndef LIBQA_OPTIONS_H
#define LIBQA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Each reads the environment when first called. Any thread. */
bool options_agent(void);
const char *options_name(void); /* "" when there is none; valid for ever */

/* For fork: nobody reads or changes a setting meanwhile. */
void options_lock(void);
void options_unlock(void);

/* Auto: nothing is said, on only where a tool looks for faults. */
enum options_check { OPTIONS_CHECK_AUTO, OPTIONS_CHECK_OFF, OPTIONS_CHECK_ON };

/* From then on qa_set can not change them. */
uint32_t options_page_size_bytes(void);
uint64_t options_thread_cache_bytes(void); /* 0: no caches */
uint64_t options_large_cache_bytes(void);  /* 0: nothing is kept */
enum options_check options_check(void);

#endif
