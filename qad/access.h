/*
 * access.h - who may see and who may trim a target.
 *
 *   see   the target's own uid; root; members of the read group and of the admin group
 *   trim  the target's own uid; root; members of the admin group
 */
#ifndef QAD_ACCESS_H
#define QAD_ACCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "process.h"

/* The groups that qad was told; without one nobody is in it. */
struct access {
	bool has_read_group, has_admin_group;
	gid_t read_group, admin_group;
	const char *read_name, *admin_name; /* as qad was told them; NULL: no such group */
};

/* What one client may, found when it says hello. */
struct rights {
	uid_t uid;
	bool sees_all, trims_all;
};

/* The gid of a group's name or number. 0; -ENOENT: there is none of that name. */
int access_find_group(const char *name, gid_t *group);

void access_rights_of(const struct access *access, int socket, const struct identity *identity, struct rights *rights);

static inline bool access_may_see(const struct rights *rights, uid_t owner)
{
	return rights->sees_all || rights->uid == owner;
}

static inline bool access_may_trim(const struct rights *rights, uid_t owner)
{
	return rights->trims_all || rights->uid == owner;
}

#endif
