/*
 * Colours are the terminal's own eight, on its own background; with NO_COLOR, or a terminal that has none, styles are
 * bold, dim and reverse. Glyphs that are not ASCII need a locale of UTF-8.
 */
#include "top/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"
#include "top/keys.h"

/* The last: term.h makes macros of common words. */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

static const struct screen_glyphs glyphs_utf8 = {
	"\u2588", "\u2591", {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"}};
static const struct screen_glyphs glyphs_ascii = {"#", ".", {"_", ".", ":", "-", "=", "+", "*", "#"}};

enum { PAIR_USED = 1, PAIR_CACHED, PAIR_WARNING, PAIR_TITLE, PAIR_SORTED };
enum { ESCAPE_MS = 25 };

/* ncurses counts in shorts, and ends the program beyond; of a larger terminal, whoever says so, a part is used. */
enum { MOST_LINES = 1000, MOST_COLUMNS = 1000 };

static SCREEN *screen;
static bool is_in_colour;

static void begin_colours(void)
{
	const char *refusal = getenv("NO_COLOR");

	is_in_colour = has_colors() && (!refusal || !*refusal) && start_color() == OK && COLORS >= 8;
	if (!is_in_colour)
		return;
	use_default_colors();
	init_pair(PAIR_USED, COLOR_GREEN, -1);
	init_pair(PAIR_CACHED, COLOR_YELLOW, -1);
	init_pair(PAIR_WARNING, COLOR_RED, -1);
	init_pair(PAIR_TITLE, COLOR_BLACK, COLOR_CYAN);
	init_pair(PAIR_SORTED, COLOR_BLACK, COLOR_GREEN);
}

static bool can_place_text(void)
{
	const char *cup;
	bool can;
	int error;

	if (setupterm(NULL, STDOUT_FILENO, &error) != OK)
		return false;
	cup = tigetstr("cup");
	can = cup != NULL && cup != (char *)-1;
	del_curterm(cur_term);
	return can;
}

/* Whether the terminal tells it. is_cut: whether it is larger than what is used. */
static bool read_size(struct winsize *size, bool *is_cut)
{
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, size) != 0 || size->ws_row == 0 || size->ws_col == 0)
		return false;
	*is_cut = size->ws_row > MOST_LINES || size->ws_col > MOST_COLUMNS;
	size->ws_row = size->ws_row < MOST_LINES ? size->ws_row : MOST_LINES;
	size->ws_col = size->ws_col < MOST_COLUMNS ? size->ws_col : MOST_COLUMNS;
	return true;
}

/* ncurses asks the terminal by itself, but the environment first. */
static void cut_size(void)
{
	struct winsize size;
	char text[16];
	bool is_cut;

	if (!read_size(&size, &is_cut) || !is_cut)
		return;
	snprintf(text, sizeof(text), "%d", size.ws_row);
	setenv("LINES", text, 1);
	snprintf(text, sizeof(text), "%d", size.ws_col);
	setenv("COLUMNS", text, 1);
}

int screen_begin(void)
{
	cut_size();
	if (!can_place_text())
		return -EINVAL;
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -EINVAL;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	begin_colours();
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	return 0;
}

void screen_end(void)
{
	if (!screen)
		return;
	endwin();
	fflush(stdout);
	delscreen(screen);
	screen = NULL;
}

void screen_leave(void)
{
	endwin();
	fflush(stdout);
}

void screen_renew(void)
{
	struct winsize size;
	bool is_cut;

	if (read_size(&size, &is_cut))
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

void screen_size(int *width, int *height)
{
	getmaxyx(stdscr, *height, *width);
}

const struct screen_glyphs *screen_glyphs(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? &glyphs_utf8 : &glyphs_ascii;
}

void screen_clear(void)
{
	erase();
}

static attr_t attributes_of(int style)
{
	attr_t selected = style & SCREEN_SELECTED ? A_REVERSE : 0;

	switch (style & ~SCREEN_SELECTED) {
	case SCREEN_BOLD:
		return selected | A_BOLD;
	case SCREEN_DIM:
		return selected | A_DIM;
	case SCREEN_TITLE:
		return is_in_colour ? (attr_t)COLOR_PAIR(PAIR_TITLE) : A_REVERSE;
	case SCREEN_TITLE_SORTED:
		return is_in_colour ? (attr_t)COLOR_PAIR(PAIR_SORTED) : A_REVERSE | A_BOLD;
	case SCREEN_USED:
		return selected | (is_in_colour ? (attr_t)COLOR_PAIR(PAIR_USED) : 0);
	case SCREEN_CACHED:
		return selected | (is_in_colour ? (attr_t)COLOR_PAIR(PAIR_CACHED) : 0);
	case SCREEN_WARNING:
		return selected | A_BOLD | (is_in_colour ? (attr_t)COLOR_PAIR(PAIR_WARNING) : 0);
	default:
		return selected;
	}
}

void screen_text(int y, int x, int width, int style, const char *text)
{
	int across, down;
	size_t bytes;

	screen_size(&across, &down);
	if (y < 0 || y >= down || x < 0 || x >= across)
		return;
	if (width > across - x)
		width = across - x;
	if (width <= 0)
		return;
	attrset(attributes_of(style));
	mvhline(y, x, ' ' | attributes_of(style), width);
	bytes = text_fit(text, (size_t)width);
	mvaddnstr(y, x, text, (int)bytes);
	attrset(A_NORMAL);
}

void screen_show(void)
{
	refresh();
}

static int key_of_mouse(int *x, int *y)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return 0;
	*x = event.x;
	*y = event.y;
	if (event.bstate & BUTTON4_PRESSED)
		return KEYS_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return KEYS_WHEEL_DOWN;
	return event.bstate & BUTTON1_PRESSED ? KEYS_CLICK : 0;
}

static int key_of_code(int code)
{
	static const struct {
		int code, key;
	} known[] = {
		{KEY_UP, KEYS_UP},           {KEY_DOWN, KEYS_DOWN},           {KEY_PPAGE, KEYS_PAGE_UP},
		{KEY_NPAGE, KEYS_PAGE_DOWN}, {KEY_HOME, KEYS_HOME},           {KEY_FIND, KEYS_HOME},
		{KEY_END, KEYS_END},         {KEY_SELECT, KEYS_END},          {KEY_ENTER, KEYS_ENTER},
		{KEY_F(1), KEYS_HELP},       {KEY_BACKSPACE, KEYS_BACKSPACE},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].code == code)
			return known[i].key;
	return 0;
}

static int key_of_character(wint_t c)
{
	switch (c) {
	case '\r':
	case '\n':
		return KEYS_ENTER;
	case 27:
		return KEYS_ESCAPE;
	case 8:
	case 127:
		return KEYS_BACKSPACE;
	default:
		return (int)c;
	}
}

bool screen_key(int *key, int *x, int *y)
{
	wint_t c;
	int kind = get_wch(&c);

	if (kind == ERR)
		return false;
	if (kind == KEY_CODE_YES)
		*key = (int)c == KEY_MOUSE ? key_of_mouse(x, y) : key_of_code((int)c);
	else
		*key = key_of_character(c);
	return true;
}
