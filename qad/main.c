/*
 * The command line of qad. Everything else is server.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "server.h"

static const char help[] = "Usage: qad [OPTION]...\n"
			   "Keeps track of the processes of this host that run libqa, and answers qactl.\n"
			   "It stays in the foreground and ends at SIGTERM or SIGINT.\n"
			   "\n"
			   "  -s, --socket PATH        listen at PATH (at most 107 bytes). Default: $QAD_SOCKET;\n"
			   "                           else /run/qad/qad.sock for root; else\n"
			   "                           $XDG_RUNTIME_DIR/qad/qad.sock; else /tmp/qad-UID/qad.sock\n"
			   "      --read-group GROUP   its members see the targets of all users\n"
			   "      --admin-group GROUP  its members see and trim the targets of all users\n"
			   "      --user NAME          become this user when the socket is there\n"
			   "      --http ADDRESS:PORT  serve metrics and a page over HTTP; port 0: any that is free\n"
			   "      --http-allow-remote  let ADDRESS be one that other hosts can reach\n"
			   "      --http-host NAME     answer requests to this host name too\n"
			   "      --http-allow-trim    let a trim be asked for over HTTP, by who has the token\n"
			   "      --http-token-file FILE  where the token is, or is to be made\n"
			   "      --history            record figures of all targets, not only of those watched\n"
			   "      --limit NAME=VALUE   change a limit; '--limit help' lists them\n"
			   "  -v, --verbose            log targets that come and go; twice: clients too\n"
			   "  -h, --help               show this help\n"
			   "  -V, --version            show the version\n"
			   "\n"
			   "Exit status: 0 ended by a signal; 64 wrong usage; 67 no such user or group; 69 another\n"
			   "program is listening there, or there is no HTTP in this qad; 71 memory or descriptors\n"
			   "are out; 73 the socket can not be made; 77 it may not become that user; 78 the token\n"
			   "file is no good.\n";

enum {
	OPTION_READ_GROUP = 256,
	OPTION_ADMIN_GROUP,
	OPTION_HISTORY,
	OPTION_HTTP,
	OPTION_HTTP_REMOTE,
	OPTION_HTTP_HOST,
	OPTION_HTTP_TRIM,
	OPTION_HTTP_TOKEN,
	OPTION_LIMIT,
	OPTION_USER
};

static const struct option long_options[] = {
	{"socket", required_argument, NULL, 's'},
	{"read-group", required_argument, NULL, OPTION_READ_GROUP},
	{"admin-group", required_argument, NULL, OPTION_ADMIN_GROUP},
	{"user", required_argument, NULL, OPTION_USER},
	{"history", no_argument, NULL, OPTION_HISTORY},
	{"http", required_argument, NULL, OPTION_HTTP},
	{"http-allow-remote", no_argument, NULL, OPTION_HTTP_REMOTE},
	{"http-host", required_argument, NULL, OPTION_HTTP_HOST},
	{"http-allow-trim", no_argument, NULL, OPTION_HTTP_TRIM},
	{"http-token-file", required_argument, NULL, OPTION_HTTP_TOKEN},
	{"limit", required_argument, NULL, OPTION_LIMIT},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

/* Above EX__BASE no code is negative: this one means that the program goes on. */
enum { GO_ON = -1 };

/* As any other line of the log: escaped, and told to the journal as an error. */
static void complain(const char *before, const char *value, const char *after)
{
	struct log log;

	log_init(&log, LOG_LEVEL_ERROR);
	log_write(&log, LOG_LEVEL_ERROR, "%s%s%s", before, value, after);
}

static int wrong_usage(const char *what, const char *value)
{
	complain(what, value, "");
	fputs("Try 'qad --help'.\n", stderr);
	return EX_USAGE;
}

static int take_group(const char *name, const char **kept, bool *has_group, gid_t *group)
{
	if (access_find_group(name, group) != 0) {
		complain("there is no group \"", name, "\" (see getent group)");
		return EX_NOUSER;
	}
	*has_group = true;
	*kept = name;
	return GO_ON;
}

static int take_user(struct user *user, const char *name)
{
	if (user_find(name, user) == 0)
		return GO_ON;
	complain("there is no user \"", name, "\" (see getent passwd)");
	return EX_NOUSER;
}

static int take_socket(struct qp_address *address, const char *path)
{
	int error = qp_address_set(address, path);

	if (error == -EINVAL)
		return wrong_usage("the path of --socket is empty", "");
	if (error != 0)
		return wrong_usage("a socket path has at most 107 bytes, this is longer: ", path);
	return GO_ON;
}

static int print_limits(void)
{
	struct limits limits;
	struct limit_range range;
	uint64_t value;
	const char *name;

	limits_init(&limits);
	printf("%-22s %12s %12s %15s\n", "NAME", "DEFAULT", "LEAST", "MOST");
	for (size_t i = 0; (name = limits_at(&limits, i, &value, &range)) != NULL; i++)
		printf("%-22s %12llu %12llu %15llu\n", name, (unsigned long long)value, (unsigned long long)range.least,
		       (unsigned long long)range.most);
	return EX_OK;
}

static int take_limit(struct limits *limits, const char *setting)
{
	if (strcmp(setting, "help") == 0)
		return print_limits();
	switch (limits_set(limits, setting)) {
	case 0:
		return GO_ON;
	case -ENOENT:
		return wrong_usage("there is no such limit (see --limit help): ", setting);
	case -ERANGE:
		return wrong_usage("a limit outside what is possible (see --limit help): ", setting);
	default:
		return wrong_usage(
			"a limit is NAME=VALUE, a number: bytes also with K, M or G, times in milliseconds: ", setting);
	}
}

static int take_http_address(struct http_options *options, const char *text)
{
	if (http_options_set_address(options, text) == 0)
		return GO_ON;
	return wrong_usage("--http takes ADDRESS:PORT, such as 127.0.0.1:9464 or [::1]:9464, not ", text);
}

static int take_http_host(struct http_options *options, const char *name)
{
	switch (http_options_add_host(options, name)) {
	case 0:
		return GO_ON;
	case -ENOSPC:
		return wrong_usage("there are too many --http-host; the first that does not fit: ", name);
	default:
		return wrong_usage("--http-host takes a host name without a port, not ", name);
	}
}

static int take_option(int option, struct server_options *options)
{
	struct access *access = &options->access;

	switch (option) {
	case 's':
		return take_socket(&options->address, optarg);
	case OPTION_READ_GROUP:
		return take_group(optarg, &access->read_name, &access->has_read_group, &access->read_group);
	case OPTION_ADMIN_GROUP:
		return take_group(optarg, &access->admin_name, &access->has_admin_group, &access->admin_group);
	case OPTION_USER:
		return take_user(&options->user, optarg);
	case OPTION_HISTORY:
		options->is_recording = true;
		return GO_ON;
	case OPTION_HTTP:
		return take_http_address(&options->http, optarg);
	case OPTION_HTTP_REMOTE:
		options->http.allows_remote = true;
		return GO_ON;
	case OPTION_HTTP_HOST:
		return take_http_host(&options->http, optarg);
	case OPTION_HTTP_TRIM:
		options->http.allows_trim = true;
		return GO_ON;
	case OPTION_HTTP_TOKEN:
		options->http.token_file = optarg;
		return GO_ON;
	case OPTION_LIMIT:
		return take_limit(&options->limits, optarg);
	case 'v':
		if (options->level < LOG_LEVEL_DEBUG)
			options->level++;
		return GO_ON;
	case 'h':
		fputs(help, stdout);
		return EX_OK;
	case 'V':
		puts("qad " QA_VERSION_TEXT);
		return EX_OK;
	default: /* getopt_long has said what is wrong */
		fputs("Try 'qad --help'.\n", stderr);
		return EX_USAGE;
	}
}

/* GO_ON, or the exit status. */
static int take_command_line(int argc, char **argv, struct server_options *options)
{
	int option;

	while ((option = getopt_long(argc, argv, "s:vhV", long_options, NULL)) != -1) {
		int status = take_option(option, options);
		if (status != GO_ON)
			return status;
	}
	if (optind < argc)
		return wrong_usage("unexpected argument: ", argv[optind]);
	if (http_options_fault(&options->http) != NULL)
		return wrong_usage(http_options_fault(&options->http), "");
	if (options->socket >= 0)
		return GO_ON;
	if (options->address.path[0] == '\0' && qp_address_of_server(&options->address) != 0)
		return wrong_usage("QAD_SOCKET is longer than the 107 bytes of a socket path", "");
	return GO_ON;
}

/* Descriptors 0 to 2 exist, so that no socket becomes stderr. */
static void open_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static int status_of(int error)
{
	switch (error) {
	case 0:
		return EX_OK;
	case -EADDRINUSE:
	case -ENOTSUP:
		return EX_UNAVAILABLE;
	case -ENOKEY:
		return EX_CONFIG;
	case -EUSERS: /* as server.h says */
		return EX_NOPERM;
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
		complain(strerror(-error), "", "");
		return EX_OSERR;
	default:
		return EX_CANTCREAT;
	}
}

int main(int argc, char **argv)
{
	struct server_options options = {.level = LOG_LEVEL_NOTICE};
	struct qp_address handed_over = {.path = ""};
	int status;

	limits_init(&options.limits);
	manager_init(&options.manager);
	options.socket = manager_take_socket(&handed_over);
	open_standard_descriptors();
	if (options.socket < -1)
		return wrong_usage(
			"LISTEN_FDS must be one Unix stream socket that listens: look at ListenStream= of the "
			"socket's unit",
			"");
	status = take_command_line(argc, argv, &options);
	if (status != GO_ON)
		return status;
	if (options.socket >= 0)
		options.address = handed_over;
	return status_of(server_run(&options));
}
