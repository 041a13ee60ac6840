/*
 * No stdio: after an error it is not known how much of a buffer reached the file. What is left of a line that did not
 * fit is cut off, so that the file ends with a whole line even if the disk is full.
 */
#include "record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "output.h"
#include "text.h"

enum { PATH_TEXT_BYTES = 1024 };

static const char *path_text(const struct record_file *file, char text[PATH_TEXT_BYTES])
{
	text_escape(text, PATH_TEXT_BYTES, strcmp(file->path, "-") == 0 ? "standard output" : file->path);
	return text;
}

int record_file_open(struct record_file *file, const char *path, bool force)
{
	char text[PATH_TEXT_BYTES];

	*file = (struct record_file){.path = path, .fd = STDOUT_FILENO};
	if (strcmp(path, "-") == 0)
		return 0;
	file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	file->is_new = file->fd >= 0;
	if (file->fd < 0 && errno == EEXIST && force)
		file->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (file->fd >= 0)
		return 0;
	if (errno == EEXIST)
		output_say("%s exists; name another file, or write over it with --force", path_text(file, text));
	else
		output_say("%s can not be written: %s", path_text(file, text), strerror(errno));
	return EX_CANTCREAT;
}

static int fail(struct record_file *file, int error)
{
	struct stat status;
	char text[PATH_TEXT_BYTES];
	bool is_file = fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode);

	file->has_failed = true;
	if (is_file && file->fd != STDOUT_FILENO)
		(void)!ftruncate(file->fd, file->whole_bytes);
	output_say("%s: %s; the recording ends there", path_text(file, text), strerror(error));
	return EX_IOERR;
}

static int write_all(struct record_file *file, const char *text, size_t text_bytes)
{
	size_t done = 0;

	while (done < text_bytes) {
		ssize_t written = write(file->fd, text + done, text_bytes - done);

		if (written < 0 && errno != EINTR)
			return fail(file, errno);
		done += written > 0 ? (size_t)written : 0;
	}
	file->whole_bytes += (off_t)text_bytes;
	return 0;
}

int record_file_write(struct record_file *file, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	size_t length = text ? strlen(text) : 0;
	int status;

	json_decref(line);
	if (!text)
		return output_no_memory();
	text[length] = '\n'; /* in the place of its NUL */
	status = write_all(file, text, length + 1);
	free(text);
	return status;
}

int record_file_close(struct record_file *file)
{
	int status = 0;

	if (file->is_new && file->records == 0)
		unlink(file->path);
	/* Some file systems tell only now that there is no room. */
	if (file->fd != STDOUT_FILENO && close(file->fd) < 0 && errno != EINTR && !file->has_failed) {
		output_say("%s: %s", file->path, strerror(errno));
		status = EX_IOERR;
	}
	return status;
}
