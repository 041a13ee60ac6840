/*
 * For each address the nearest directory that exists is watched for the one name that brings it nearer. Events about
 * other names are read and dropped. The instance is made anew each time it is armed: simpler than to mend watches, and
 * rare.
 *
 * The user's share of inotify instances or watches may be used up, a directory may be unreadable. Then there is nothing
 * better than to look again every few seconds: has_blind_spot.
 */
#include "agent_watch.h"

#include <errno.h>
#include <string.h>

#include "agent_os.h"

enum { ROUNDS = 8 };

/* In the directory of the socket: also its permissions, since a server may set them after it has bound. */
#define SOCKET_EVENTS (IN_CREATE | IN_MOVED_TO | IN_ATTRIB)
#define DIRECTORY_EVENTS (IN_CREATE | IN_MOVED_TO)
#define GONE_EVENTS (IN_DELETE_SELF | IN_MOVE_SELF)

void agent_watch_init(struct agent_watch *watch)
{
	*watch = (struct agent_watch){.fd = -1};
}

void agent_watch_disarm(struct agent_watch *watch)
{
	if (watch->fd >= 0)
		agent_os_close(watch->fd);
	agent_watch_init(watch);
}

/* From "/a/b" to "/a" and "b". False at the top. */
static bool climb(struct qp_address *directory, struct agent_spot *spot)
{
	struct qp_address below = *directory;
	const char *slash = strrchr(below.path, '/');

	if (strcmp(below.path, "/") == 0 || strcmp(below.path, ".") == 0)
		return false;
	strcpy(spot->name, slash != NULL ? slash + 1 : below.path);
	qp_address_directory(&below, directory->path);
	return true;
}

/* The nearest directory that exists, for this moment. A wd, or a negative errno. */
static int watch_nearest(int fd, const struct qp_address *address, struct agent_spot *spot, bool *is_missing)
{
	struct qp_address place = *address;

	*is_missing = false;
	climb(&place, spot);
	for (;;) {
		uint32_t events = GONE_EVENTS | IN_ONLYDIR | IN_MASK_ADD;
		int wd = agent_os_watch(fd, place.path, events | (*is_missing ? DIRECTORY_EVENTS : SOCKET_EVENTS));

		if (wd != -ENOENT)
			return wd;
		if (!climb(&place, spot))
			return -ENOENT;
		*is_missing = true;
	}
}

/*
 * A directory that was made just before its parent was watched gave no event. So after a watch on a parent, look once
 * more from below; it ends, as each round means that something was made or removed meanwhile.
 */
static int watch_spot(int fd, const struct qp_address *address, struct agent_spot *spot)
{
	int wd = -ENOENT, last = -ENOENT;

	for (int round = 0; round < ROUNDS; round++) {
		bool is_missing;

		wd = watch_nearest(fd, address, spot, &is_missing);
		if (wd < 0 || !is_missing || wd == last)
			return wd;
		last = wd;
	}
	return wd;
}

/* Of the addresses that nobody chose: those of the user are made and must be trusted; 0 or a negative errno. */
static int prepare_default(const struct qp_address *address, int index)
{
	if (index == 0)
		return 0; /* /run/qad is the system's to make */
	return qp_address_make_directory(address);
}

void agent_watch_arm(struct agent_watch *watch, const struct qp_address *addresses, int count, bool chosen)
{
	agent_watch_disarm(watch);
	watch->fd = agent_os_inotify();
	if (watch->fd < 0) {
		watch->fd = -1;
		watch->has_blind_spot = true;
		return;
	}
	for (int i = 0; i < count; i++) {
		struct agent_spot *spot = &watch->spots[watch->count];

		/* A directory that is another's, or can not be made, is no place where qad could be. */
		if (!chosen && prepare_default(&addresses[i], i) != 0)
			continue;
		spot->wd = watch_spot(watch->fd, &addresses[i], spot);
		if (spot->wd >= 0)
			watch->count++;
		else
			watch->has_blind_spot = true;
	}
}

static bool concerns(const struct agent_watch *watch, const struct inotify_event *event)
{
	if ((event->mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_UNMOUNT | GONE_EVENTS)) != 0)
		return true;
	for (int i = 0; i < watch->count; i++)
		if (watch->spots[i].wd == event->wd && event->len > 0 && strcmp(watch->spots[i].name, event->name) == 0)
			return true;
	return false;
}

bool agent_watch_take(struct agent_watch *watch)
{
	_Alignas(struct inotify_event) char events[4096];
	bool taken = false;

	for (;;) {
		long bytes = agent_os_read(watch->fd, events, sizeof(events));

		if (bytes == -EINTR)
			continue;
		if (bytes <= 0)
			return taken || bytes != -EAGAIN;
		for (long at = 0; at < bytes;) {
			const struct inotify_event *event = (const struct inotify_event *)(events + at);

			taken |= concerns(watch, event);
			at += (long)(sizeof(*event) + event->len);
		}
		if (taken)
			return true; /* the rest goes with the instance */
	}
}
