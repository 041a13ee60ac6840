/*
 * The groups of a client are those of its process when it connected, as the kernel keeps them with the socket
 * (SO_PEERGROUPS), not those of the user database: what counts is what the process may, not what its user could.
 */
#include "access.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/socket.h>

#define MOST_GROUPS 65536u /* of a process, in Linux */

int access_find_group(const char *name, gid_t *group)
{
	struct group *entry = getgrnam(name);
	char *end;

	if (entry != NULL) {
		*group = entry->gr_gid;
		return 0;
	}
	errno = 0;
	unsigned long number = strtoul(name, &end, 10);
	if (errno != 0 || end == name || *end != '\0' || name[0] == '-' || number >= (gid_t)-1)
		return -ENOENT;
	*group = (gid_t)number;
	return 0;
}

/* The supplementary groups, or NULL: none, or they can not be had; then only the primary group counts. */
static gid_t *supplementary_groups(int socket, size_t *count)
{
	socklen_t size = 0;
	gid_t *groups = NULL;

	*count = 0;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0 || errno != ERANGE ||
	    size > MOST_GROUPS * sizeof(gid_t))
		return NULL;
	groups = malloc(size);
	if (groups == NULL)
		return NULL;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) {
		free(groups);
		return NULL;
	}
	*count = size / sizeof(gid_t);
	return groups;
}

static bool is_member(gid_t group, gid_t primary, const gid_t *groups, size_t count)
{
	if (group == primary)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (groups[i] == group)
			return true;
	}
	return false;
}

void access_rights_of(const struct access *access, int socket, const struct identity *identity, struct rights *rights)
{
	bool is_root = identity->uid == 0;
	bool is_admin = false, is_reader = false;

	if (!is_root && (access->has_read_group || access->has_admin_group)) {
		size_t count;
		gid_t *groups = supplementary_groups(socket, &count);

		is_admin = access->has_admin_group && is_member(access->admin_group, identity->gid, groups, count);
		is_reader = access->has_read_group && is_member(access->read_group, identity->gid, groups, count);
		free(groups);
	}
	*rights = (struct rights){
		.uid = identity->uid,
		.sees_all = is_root || is_admin || is_reader,
		.trims_all = is_root || is_admin,
	};
}
