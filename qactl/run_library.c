/*
 * Everything is looked for beside the program that runs first, so that a build folder, or an installation that was
 * moved, works with what belongs to it; then where it was to be installed.
 */
#include "run_library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "output.h"
#include "text.h"

#define LIBRARY "libqa_malloc.so.0"

/* A path below the folder of this program. False: it is not there, or may not be used so. */
static bool find_beside(const char *relative, int mode, char path[PATH_MAX])
{
	char own[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length <= 0)
		return false;
	own[length] = '\0';
	char *slash = strrchr(own, '/');
	if (!slash)
		return false;
	*slash = '\0';
	snprintf(joined, sizeof(joined), "%s/%s", own, relative);
	return realpath(joined, path) && access(path, mode) == 0;
}

/* LD_PRELOAD is a list, and has no way to quote. */
static int check_path(const char *path)
{
	char shown[PATH_MAX];

	if (!strpbrk(path, " :"))
		return 0;
	text_escape(shown, sizeof(shown), path);
	output_say("%s: LD_PRELOAD can not have a path with a space or colon; link to it from elsewhere and\n"
		   "name that link in QA_MALLOC_LIBRARY",
		   shown);
	return EX_CONFIG;
}

int run_library_find(char path[PATH_MAX])
{
	const char *chosen = getenv("QA_MALLOC_LIBRARY");
	char shown[PATH_MAX];

	if (chosen && *chosen) {
		if (realpath(chosen, path) && access(path, R_OK) == 0)
			return check_path(path);
		int error = errno;
		text_escape(shown, sizeof(shown), chosen);
		output_say("QA_MALLOC_LIBRARY names %s: %s", shown, strerror(error));
		return EX_CONFIG;
	}
	if (find_beside("../libqa/" LIBRARY, R_OK, path) || find_beside(QA_LIBRARY_BESIDE "/" LIBRARY, R_OK, path))
		return check_path(path);
	if (realpath(QA_LIBRARY_FOLDER "/" LIBRARY, path) && access(path, R_OK) == 0)
		return check_path(path);
	output_say("%s is neither beside qactl nor in %s;\nname it in QA_MALLOC_LIBRARY", LIBRARY, QA_LIBRARY_FOLDER);
	return EX_CONFIG;
}

static bool has_entry(const char *list, const char *path)
{
	size_t length = strlen(path);

	for (const char *found = list; (found = strstr(found, path)); found += length)
		if ((found == list || strchr(" :", found[-1])) && strchr(" :", found[length]))
			return true;
	return false;
}

int run_library_preload(const char *path)
{
	const char *before = getenv("LD_PRELOAD");
	char *list;

	if (before && has_entry(before, path))
		return 0;
	if (asprintf(&list, "%s%s%s", path, before && *before ? ":" : "", before ? before : "") < 0 ||
	    setenv("LD_PRELOAD", list, 1) != 0) {
		return output_no_memory();
	}
	free(list);
	return 0;
}

void run_qad_find(char path[PATH_MAX])
{
	if (!find_beside("../qad/qad", X_OK, path) && !find_beside("qad", X_OK, path))
		strcpy(path, "qad");
}
