/*
 * user.h - becomes another user, for good, when started as root.
 */
#ifndef QAD_USER_H
#define QAD_USER_H

#include <sys/types.h>

struct user {
	const char *name; /* NULL: stays who it is */
	uid_t uid;
	gid_t gid;
};

/* By name or number. 0; -ENOENT: there is no such user. */
int user_find(const char *name, struct user *user);

/*
 * Takes the uid, the gid and the groups of the user, and drops all capabilities. 0, or a negative errno: then the
 * process is no longer to be used, as it may be half one and half the other.
 */
int user_become(const struct user *user);

#endif
