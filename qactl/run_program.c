/*
 * The dynamic loader preloads nothing where there is none (static programs), and ignores libraries given by path where
 * the kernel says that privileges are gained (set-user-ID, set-group-ID, capabilities). Both would run, but without
 * libqa, and the user would look in vain for the target; so it is said beforehand. What a shell or a wrapper starts
 * later can not be seen from here.
 */
#include "run_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "output.h"
#include "text.h"

/* A script may name a script; the kernel follows as many. */
enum { INTERPRETERS_MAX = 5, HEAD_BYTES = 256 };

static int refuse(const char *path, const char *why)
{
	char shown[PATH_MAX];

	text_escape(shown, sizeof(shown), path);
	output_say("%s %s", shown, why);
	return RUN_CANNOT;
}

/* Whether the kernel will start it with more privileges than we have. */
static bool gains_privileges(int fd, const struct stat *status)
{
	struct statvfs filesystem;
	bool is_set_uid = (status->st_mode & S_ISUID) && status->st_uid != getuid();
	bool is_set_gid = (status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP) && status->st_gid != getgid();
	bool has_capabilities = getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;

	if (fstatvfs(fd, &filesystem) == 0 && (filesystem.f_flag & ST_NOSUID))
		return false;
	return is_set_uid || is_set_gid || has_capabilities;
}

/* The name of its dynamic loader; "" when it has none. False: not to be understood. */
static bool read_loader(int fd, const Elf64_Ehdr *header, char *loader, size_t loader_bytes)
{
	Elf64_Phdr part;

	*loader = '\0';
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (pread(fd, &part, sizeof(part), (off_t)(header->e_phoff + i * sizeof(part))) != sizeof(part))
			return false;
		if (part.p_type != PT_INTERP)
			continue;
		if (part.p_filesz == 0 || part.p_filesz > loader_bytes)
			return false;
		ssize_t got = pread(fd, loader, part.p_filesz, (off_t)part.p_offset);
		loader[part.p_filesz - 1] = '\0';
		return got == (ssize_t)part.p_filesz;
	}
	return true;
}

static bool read_header(int fd, Elf64_Ehdr *header)
{
	return pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

/* Whether it is for the processor that qactl, and so the library, is for. */
static bool is_of_our_kind(const Elf64_Ehdr *header)
{
	Elf64_Ehdr own;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool is_read = fd >= 0 && read_header(fd, &own);

	if (fd >= 0)
		close(fd);
	return !is_read || (own.e_machine == header->e_machine && own.e_ident[EI_CLASS] == header->e_ident[EI_CLASS]);
}

static int check_elf(const char *path, int fd, const Elf64_Ehdr *header, const struct stat *status)
{
	char loader[PATH_MAX];

	if (gains_privileges(fd, status))
		return refuse(path, "gains privileges when it starts (set-user-ID, set-group-ID or capabilities);\n"
				    "the system then ignores libqa_malloc.so, so it can not run on libqa");
	if (!is_of_our_kind(header))
		return refuse(path, "is for another kind of processor than libqa_malloc.so (a 32-bit program?),\n"
				    "so it can not run on libqa");
	if (!read_loader(fd, header, loader, sizeof(loader)))
		return 0; /* the kernel will say what is wrong with it */
	if (!*loader)
		return refuse(path, "is statically linked: nothing is loaded into it, so it can not run on libqa.\n"
				    "Link it dynamically, or to libqa itself");
	if (strstr(loader, "ld-musl"))
		return refuse(path, "uses the C library musl; libqa_malloc.so is for glibc");
	return 0;
}

static bool is_runnable(const char *path, struct stat *status)
{
	return stat(path, status) == 0 && S_ISREG(status->st_mode) && access(path, X_OK) == 0;
}

/* 0, or the errno that execvp would give. */
static int search(const char *word, char path[PATH_MAX])
{
	const char *folders = getenv("PATH"), *end;
	struct stat status;
	int error = ENOENT;

	if (strchr(word, '/')) {
		if (snprintf(path, PATH_MAX, "%s", word) >= PATH_MAX)
			return ENAMETOOLONG;
		if (stat(path, &status) != 0)
			return errno;
		return is_runnable(path, &status) ? 0 : S_ISDIR(status.st_mode) ? EISDIR : EACCES;
	}
	for (const char *folder = folders ? folders : "/bin:/usr/bin"; *word; folder = end + 1) {
		end = strchrnul(folder, ':');
		int length = (int)(end - folder);
		if (snprintf(path, PATH_MAX, "%.*s%s%s", length, folder, length ? "/" : "", word) < PATH_MAX) {
			if (is_runnable(path, &status))
				return 0;
			if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
				error = EACCES;
		}
		if (!*end)
			break;
	}
	return error;
}

static int find(const char *word, char path[PATH_MAX])
{
	char shown[PATH_MAX];
	int error = search(word, path);

	if (error == 0)
		return 0;
	text_escape(shown, sizeof(shown), word);
	if (error == ENOENT && !strchr(word, '/'))
		output_say("%s: there is no such command in PATH", shown);
	else
		output_say("%s: %s", shown, error == EACCES ? "not executable" : strerror(error));
	return error == ENOENT || error == ENOTDIR ? RUN_NOT_FOUND : RUN_CANNOT;
}

/* What a script's first line names: its interpreter, or what env is to find. False: there is none. */
static bool read_interpreter(const char *head, char *word, size_t word_bytes)
{
	char line[HEAD_BYTES], *rest = line;

	snprintf(line, sizeof(line), "%.*s", (int)strcspn(head + 2, "\n"), head + 2);
	char *interpreter = strtok_r(rest, " \t", &rest);
	if (!interpreter)
		return false;
	const char *base = strrchr(interpreter, '/');
	char *argument = strtok_r(rest, " \t", &rest);
	bool is_env = base && strcmp(base, "/env") == 0 && argument && *argument != '-' && !strchr(argument, '=');
	snprintf(word, word_bytes, "%s", is_env ? argument : interpreter);
	return true;
}

/* What one file is. *is_script: word has what is to be looked at next. */
static int check_file(const char *path, char word[HEAD_BYTES], bool *is_script)
{
	char head[HEAD_BYTES] = "";
	struct stat status;
	Elf64_Ehdr header;
	int result = 0, fd = open(path, O_RDONLY | O_CLOEXEC);

	*is_script = false;
	if (fd < 0)
		return 0;
	if (read_header(fd, &header)) {
		if (fstat(fd, &status) == 0)
			result = check_elf(path, fd, &header, &status);
	} else if (pread(fd, head, sizeof(head) - 1, 0) > 2 && head[0] == '#' && head[1] == '!') {
		*is_script = read_interpreter(head, word, HEAD_BYTES);
	}
	close(fd);
	return result;
}

int run_program_find(const char *word, char path[PATH_MAX])
{
	char interpreter[PATH_MAX], next[HEAD_BYTES];
	bool is_script;
	int status = find(word, path);

	if (status != 0)
		return status;
	status = check_file(path, next, &is_script);
	for (int i = 0; status == 0 && is_script && i < INTERPRETERS_MAX; i++) {
		status = find(next, interpreter);
		if (status == 0)
			status = check_file(interpreter, next, &is_script);
	}
	return status;
}
