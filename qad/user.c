/*
 * The order matters: groups while it is still root, the uid last. Then it is tried whether the way back is closed.
 */
#include "user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

int user_find(const char *name, struct user *user)
{
	const struct passwd *entry = getpwnam(name);
	char *end;

	if (entry == NULL && name[0] >= '0' && name[0] <= '9') {
		errno = 0;
		unsigned long number = strtoul(name, &end, 10);
		if (errno == 0 && *end == '\0' && number < (uid_t)-1)
			entry = getpwuid((uid_t)number);
	}
	if (entry == NULL)
		return -ENOENT;
	*user = (struct user){.name = name, .uid = entry->pw_uid, .gid = entry->pw_gid};
	return 0;
}

int user_become(const struct user *user)
{
	const struct passwd *entry = getpwuid(user->uid);

	if (geteuid() == user->uid)
		return 0;
	if (entry == NULL)
		return -ENOENT;
	if (initgroups(entry->pw_name, user->gid) != 0 || setresgid(user->gid, user->gid, user->gid) != 0 ||
	    setresuid(user->uid, user->uid, user->uid) != 0)
		return -errno;
	if (user->uid != 0 && setresuid(-1, 0, -1) == 0)
		return -EPERM;
	return 0;
}
