/*
 * One poll for the keyboard, qad and signals. All signals that end or stop a program come through a descriptor, so that
 * they are handled between two drawings, never within one: the terminal is as it was before the program ends or stops.
 * It then does so by the same signal, as the shell expects.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "output.h"
#include "text.h"
#include "top/draw.h"
#include "top/screen.h"
#include "top/top.h"

/* While something is wrong the age of the figures is shown, and counts. */
enum { AGE_TICK_MS = 1000 };

struct loop {
	struct top *top;
	sigset_t before; /* signals that were blocked before */
	int signals;     /* descriptor */
	int ended_by;    /* a signal; 0: not */
};

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

static int begin_signals(struct loop *loop)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
		sigaddset(&set, caught[i]);
	loop->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signals < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &set, &loop->before);
	return 0;
}

/* The program gets the signal as if it had never been caught. */
static void take_by_default(int number)
{
	sigset_t set;

	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* It was stopped, and goes on. */
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void stop(void)
{
	screen_leave();
	take_by_default(SIGTSTP);
	screen_renew();
}

static void take_signals(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGTSTP:
			stop();
			break;
		case SIGCONT:
		case SIGWINCH:
			screen_renew();
			break;
		default:
			loop->ended_by = (int)info.ssi_signo;
		}
	}
}

static void arrange(struct loop *loop)
{
	int width, height;

	screen_size(&width, &height);
	top_arrange(loop->top, width, height);
}

static void take_keys(struct loop *loop)
{
	int key = 0, x = 0, y = 0;

	while (!loop->top->is_done && screen_key(&key, &x, &y)) {
		if (key == 0)
			continue;
		arrange(loop);
		top_take_key(loop->top, key, x, y);
	}
}

static void take_news(struct loop *loop)
{
	const struct qp_message *message = NULL;
	enum link_news news;

	while ((news = link_next(&loop->top->link, &message)) != LINK_NOTHING)
		top_take_news(loop->top, news, message);
}

static int wait_ms(const struct loop *loop)
{
	int ms = link_wait_ms(&loop->top->link);

	if (loop->top->link.problem[0] && (ms < 0 || ms > AGE_TICK_MS))
		ms = AGE_TICK_MS;
	return ms;
}

static void follow(struct loop *loop)
{
	while (!loop->top->is_done && !loop->ended_by) {
		struct link *link = &loop->top->link;
		struct pollfd polls[3] = {
			{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = loop->signals, .events = POLLIN},
		};

		arrange(loop);
		draw(loop->top);
		/* -1 while qad is away: poll passes over it. What arranging asked for goes when it is writable. */
		polls[2] = (struct pollfd){.fd = link->client->fd, .events = link_events(link)};
		if (poll(polls, 3, wait_ms(loop)) < 0 && errno != EINTR)
			loop->ended_by = SIGTERM;
		take_signals(loop);
		if (polls[0].revents & POLLIN)
			take_keys(loop);
		if (polls[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			loop->ended_by = SIGHUP;
		take_news(loop);
	}
}

static int fail_terminal(void)
{
	const char *term = getenv("TERM");
	char text[256];

	text_escape(text, sizeof(text), term ? term : "");
	if (!term || !*term)
		output_say(
			"top needs to know the terminal: TERM is not set; 'qactl top --once' prints one frame without");
	else
		output_say("the terminal TERM=%s is not known here, or can not place text; set TERM to one that is "
			   "(xterm, say), or print one frame with 'qactl top --once'",
			   text);
	return EX_USAGE;
}

int top_run(struct client *client, const struct request *request, const struct resolve_result *targets)
{
	const struct resolve_match *match = targets->count ? &targets->matches[0] : NULL;
	struct top top;
	struct loop loop = {.top = &top, .signals = -1};
	int status;

	status = top_try_watch(client, request, match);
	if (status != 0)
		return status;
	top_init(&top, request, client, match);
	if (begin_signals(&loop) < 0) {
		output_say("top can not watch for signals: %s", strerror(errno));
		status = EX_OSERR;
	} else if (screen_begin() < 0) {
		status = fail_terminal();
	} else {
		follow(&loop);
		screen_end();
	}
	if (loop.signals >= 0)
		close(loop.signals);
	top_finish(&top);
	if (loop.ended_by)
		take_by_default(loop.ended_by);
	if (loop.signals >= 0)
		sigprocmask(SIG_SETMASK, &loop.before, NULL);
	return status;
}
