/*
 * What to tell a user whose qad can not be talked to: which addresses were tried, why each did not do, and the next
 * step.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "client.h"
#include "output.h"
#include "text.h"

char *client_path_text(const struct client *client, char text[CLIENT_PATH_TEXT_BYTES])
{
	text_escape(text, CLIENT_PATH_TEXT_BYTES, client_path(client));
	return text;
}

static void print_attempt(const struct client_attempt *attempt)
{
	char path[CLIENT_PATH_TEXT_BYTES];

	text_escape(path, sizeof(path), attempt->address.path);
	fprintf(stderr, "  %s: ", path);
	switch (-attempt->error) {
	case EPERM:
		fputs("not used: its directory must belong to you and be closed to others (mode 0700)\n", stderr);
		break;
	case ECONNREFUSED:
		fputs("nobody listens; a qad that was killed left the socket behind\n", stderr);
		break;
	case EAGAIN:
		fputs("does not accept connections in time; is that qad stopped, or overloaded?\n", stderr);
		break;
	default:
		fprintf(stderr, "%s\n", strerror(-attempt->error));
	}
}

static int fail_unreachable(const struct client *client)
{
	output_say("qad is not reachable; tried:");
	for (int i = 0; i < client->attempt_count; i++)
		print_attempt(&client->attempts[i]);
	if (client->is_option)
		fprintf(stderr,
			"Start it there with 'qad --socket PATH', or leave out --socket to try the usual addresses.\n");
	else if (client->is_address_chosen)
		fprintf(stderr, "QAD_SOCKET names that address. Start qad with the same QAD_SOCKET, or unset it.\n");
	else
		fprintf(stderr,
			"Start it with 'qad' for your own programs, or as root for those of all users (with systemd:\n"
			"systemctl restart qad.socket); if it listens elsewhere, name its socket with --socket PATH or "
			"QAD_SOCKET.\n");
	return EX_UNAVAILABLE;
}

static int fail_path(const struct client *client, int error)
{
	const char *what = client->is_option ? "--socket" : "QAD_SOCKET";

	if (error == -EINVAL)
		output_say("%s: the path of a socket must not be empty", what);
	else
		output_say("%s: the path is too long for a socket; at most %u bytes fit", what, QP_ADDRESS_BYTES);
	return EX_USAGE;
}

int client_fail(const struct client *client, int error)
{
	char path[CLIENT_PATH_TEXT_BYTES];

	client_path_text(client, path);
	switch (-error) {
	case ENAMETOOLONG:
	case EINVAL:
		return fail_path(client, error);
	case ENOTCONN:
		return fail_unreachable(client);
	case ETIMEDOUT:
		output_say("qad at %s did not answer within %d s; is it stopped, or is something else listening there?",
			   path, client->waited_ms / 1000);
		return EX_UNAVAILABLE;
	case EBUSY:
		output_say("qad at %s takes no more of you now: %s; try again when some of them have ended, or have "
			   "the limit raised (qad --limit)",
			   path, client->detail);
		return EX_TEMPFAIL;
	case EPROTO:
		output_say("%s: what listens there does not speak this qactl's protocol: %s", path, client->detail);
		return EX_PROTOCOL;
	case ENOMEM:
		return output_no_memory();
	default:
		output_say("qad at %s ended the connection before it answered (%s); was it stopped, or is it out of "
			   "connections?",
			   path, strerror(-error));
		return EX_UNAVAILABLE;
	}
}
