/*
 * The secret that a trim over HTTP takes: one line of a file that only its owner can read. qad makes the file, with 256
 * random bits, when it is not there; one that others can read is refused, since then it is no secret.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http_core.h"

static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";

enum { RANDOM_BYTES = 32, LEAST_BYTES = 16, MOST_BYTES = 128 };

static int fail(struct http *http, const char *what)
{
	log_write(http->service->log, LOG_LEVEL_ERROR, "the token file %s %s", http->options.token_file, what);
	return -ENOKEY;
}

static int make(struct http *http, int fd)
{
	uint8_t random[RANDOM_BYTES];
	char text[RANDOM_BYTES * 2 + 2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return fail(http, "was not made: the system gives no random numbers");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(text + i * 2, 3, "%02x", random[i]);
	text[sizeof(text) - 2] = '\n';
	if (write(fd, text, sizeof(text) - 1) != sizeof(text) - 1) {
		unlink(http->options.token_file);
		return fail(http, "can not be written");
	}
	memcpy(http->token, text, sizeof(text) - 2);
	return 0;
}

static int read_token(struct http *http, int fd)
{
	char text[MOST_BYTES + 2] = "";
	struct stat status;
	size_t bytes;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return fail(http, "is no ordinary file");
	if ((status.st_mode & 077) != 0 || (status.st_uid != geteuid() && status.st_uid != 0))
		return fail(http, "can be read by others, so it is no secret: give it to the user of qad, mode 0600");
	if (read(fd, text, sizeof(text) - 1) < 0)
		return fail(http, "can not be read");
	bytes = strcspn(text, "\r\n");
	text[bytes] = '\0';
	if (bytes < LEAST_BYTES || bytes > MOST_BYTES || strspn(text, characters) != bytes)
		return fail(http,
			    "has no token: one line of 16 to 128 letters and digits; remove it, and qad makes one");
	memcpy(http->token, text, bytes + 1);
	return 0;
}

int http_token_load(struct http *http)
{
	const char *path = http->options.token_file;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool is_new = fd >= 0;
	int error;

	if (!is_new && errno == EEXIST)
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		log_write(http->service->log, LOG_LEVEL_ERROR,
			  "can not open the token file %s: %s; it must be a file that the user of qad can read or make",
			  path, strerror(errno));
		return -ENOKEY;
	}
	error = is_new ? make(http, fd) : read_token(http, fd);
	close(fd);
	if (is_new && error == 0)
		log_write(http->service->log, LOG_LEVEL_NOTICE, "made %s, which has the token for trims over HTTP",
			  path);
	return error;
}
