/*
 * One row per setting says how its text is understood and what is allowed. The environment is read once;
 * set-user-ID programs do not obey it. A wrong value there is told once and the default stays.
 */
#include "options.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "align.h"
#include "environment.h"
#include "line.h"
#include "os.h"
#include "qa.h"

enum { NAME_BYTES_MAX = 64, PAGE_SIZE_MIN = 4 << 10, PAGE_SIZE_MAX = 4 << 20, CACHE_MAX = 1 << 30 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded, is_taken;
static bool agent = true;
static enum options_check check = OPTIONS_CHECK_AUTO;
static uint64_t page_size_bytes = 64 << 10, thread_cache_bytes = 2 << 20, large_cache_bytes = 16 << 20;
static char name[NAME_BYTES_MAX + 1];

static int set_agent(const char *value)
{
	if (strcmp(value, "on") == 0)
		agent = true;
	else if (strcmp(value, "off") == 0)
		agent = false;
	else
		return -EINVAL;
	return 0;
}

/* Digits, then nothing, K, KiB, M or MiB. */
static bool parse_size(const char *value, uint64_t *bytes)
{
	*bytes = 0;
	const char *c = value;
	for (; *c >= '0' && *c <= '9'; c++) {
		*bytes = *bytes * 10 + (uint64_t)(*c - '0');
		if (*bytes > UINT32_MAX)
			return false;
	}
	if (c == value)
		return false;
	if (strcasecmp(c, "k") == 0 || strcasecmp(c, "kib") == 0)
		*bytes <<= 10;
	else if (strcasecmp(c, "m") == 0 || strcasecmp(c, "mib") == 0)
		*bytes <<= 20;
	else if (*c != '\0')
		return false;
	return true;
}

static int set_page_size(const char *value)
{
	uint64_t bytes;
	if (!parse_size(value, &bytes) || bytes < PAGE_SIZE_MIN || bytes > PAGE_SIZE_MAX || !align_is_valid(bytes) ||
	    bytes < os_page_bytes())
		return -EINVAL;
	if (is_taken)
		return -EBUSY;
	page_size_bytes = bytes;
	return 0;
}

static int set_check(const char *value)
{
	bool is_on = strcmp(value, "1") == 0 || strcmp(value, "on") == 0;
	if (!is_on && strcmp(value, "0") != 0 && strcmp(value, "off") != 0)
		return -EINVAL;
	if (is_taken)
		return -EBUSY;
	check = is_on ? OPTIONS_CHECK_ON : OPTIONS_CHECK_OFF;
	return 0;
}

static int set_cache(uint64_t *cache_bytes, const char *value)
{
	uint64_t bytes;
	if (!parse_size(value, &bytes) || bytes > CACHE_MAX)
		return -EINVAL;
	if (is_taken)
		return -EBUSY;
	*cache_bytes = bytes;
	return 0;
}

static int set_thread_cache(const char *value)
{
	return set_cache(&thread_cache_bytes, value);
}

static int set_large_cache(const char *value)
{
	return set_cache(&large_cache_bytes, value);
}

static int set_name(const char *value)
{
	size_t length = strlen(value);
	if (length == 0 || length > NAME_BYTES_MAX)
		return -EINVAL;
	memcpy(name, value, length + 1);
	return 0;
}

static const struct option {
	const char *setting;
	int (*set)(const char *value);
	const char *allowed;
} options[] = {
	{"QA_AGENT", set_agent, "on, off"},
	{"QA_PAGE_SIZE", set_page_size, "a power of two from 4KiB to 4MiB, in bytes or with K, KiB, M or MiB"},
	{"QA_THREAD_CACHE", set_thread_cache, "0 (no caches) to 1024MiB, in bytes or with K, KiB, M or MiB"},
	{"QA_LARGE_CACHE", set_large_cache, "0 (nothing is kept) to 1024MiB, in bytes or with K, KiB, M or MiB"},
	{"QA_CHECK", set_check, "1, on, 0, off"},
	{"QA_NAME", set_name, "1 to 64 bytes"},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

/* The value, with a question mark for what a terminal may not show. */
static void add_shown(struct line *line, const char *value)
{
	char shown[64];
	size_t length = strnlen(value, sizeof shown - 1);
	for (size_t i = 0; i < length; i++)
		shown[i] = (char)(value[i] >= ' ' && value[i] <= '~' ? value[i] : '?');
	shown[length] = '\0';
	line_add(line, shown);
}

/* One line about a value that is not understood, and what is allowed; the program goes on. */
static void warn(const struct option *option, const char *value)
{
	int saved = errno;
	struct line line;
	line_begin(&line);
	line_add(&line, option->setting);
	line_add(&line, "='");
	add_shown(&line, value);
	line_add(&line, "' is not understood and not used; allowed: ");
	line_add(&line, option->allowed);
	line_write(&line);
	errno = saved;
}

/* With the lock held. */
static void load(void)
{
	if (is_loaded)
		return;
	is_loaded = true;
	if (page_size_bytes < os_page_bytes())
		page_size_bytes = os_page_bytes();
	struct environment environment;
	environment_open(&environment);
	for (unsigned i = 0; i < OPTIONS; i++) {
		const char *value = environment_get(&environment, options[i].setting);
		if (value && options[i].set(value) != 0)
			warn(&options[i], value);
	}
	environment_close(&environment);
}

void options_lock(void)
{
	pthread_mutex_lock(&lock);
	load();
}

void options_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool options_agent(void)
{
	options_lock();
	bool value = agent;
	options_unlock();
	return value;
}

const char *options_name(void)
{
	options_lock();
	options_unlock();
	return name;
}

/* From then on qa_set can not change it. */
static uint64_t take_bytes(const uint64_t *setting)
{
	options_lock();
	is_taken = true;
	uint64_t value = *setting;
	options_unlock();
	return value;
}

uint32_t options_page_size_bytes(void)
{
	return (uint32_t)take_bytes(&page_size_bytes);
}

uint64_t options_thread_cache_bytes(void)
{
	return take_bytes(&thread_cache_bytes);
}

uint64_t options_large_cache_bytes(void)
{
	return take_bytes(&large_cache_bytes);
}

enum options_check options_check(void)
{
	options_lock();
	is_taken = true;
	enum options_check value = check;
	options_unlock();
	return value;
}

int qa_set(const char *setting, const char *value)
{
	int result = -EINVAL;
	if (!setting || !value)
		return result;
	options_lock();
	for (unsigned i = 0; i < OPTIONS; i++)
		if (strcmp(setting, options[i].setting) == 0)
			result = options[i].set(value);
	options_unlock();
	return result;
}
