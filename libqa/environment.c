/*
 * secure_getenv, or what the kernel has of the environment as long as environ is not set. The mapping for that is as
 * large as an environment may reasonably be; only what is read into it becomes resident.
 */
#include "environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPPING_BYTES ((size_t)8 << 20)

static void read_file(struct environment *environment)
{
	int file = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	/* One byte stays 0: the last value has an end. */
	ssize_t got;
	while ((got = read(file, environment->text + environment->bytes, MAPPING_BYTES - 1 - environment->bytes)) > 0)
		environment->bytes += (size_t)got;
	close(file);
}

void environment_open(struct environment *environment)
{
	int saved = errno;
	*environment = (struct environment){NULL, 0};
	if (!environ && getauxval(AT_SECURE) == 0) {
		char *text = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (text != MAP_FAILED) {
			environment->text = text;
			read_file(environment);
		}
	}
	errno = saved;
}

const char *environment_get(const struct environment *environment, const char *name)
{
	if (!environment->text)
		return secure_getenv(name);
	size_t length = strlen(name);
	const char *end = environment->text + environment->bytes;
	for (const char *entry = environment->text; entry < end; entry += strlen(entry) + 1)
		if (strncmp(entry, name, length) == 0 && entry[length] == '=')
			return entry + length + 1;
	return NULL;
}

void environment_close(struct environment *environment)
{
	int saved = errno;
	if (environment->text)
		munmap(environment->text, MAPPING_BYTES);
	errno = saved;
}
