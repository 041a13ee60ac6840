/*
 * screen.h - the terminal: text in styles, keys, sizes. The only part of top that knows ncurses.
 *
 * One screen a process. Nothing is seen before screen_show.
 */
#ifndef QACTL_SCREEN_H
#define QACTL_SCREEN_H

#include <stdbool.h>

/* Without colours they are told by bold, underline and reverse. */
enum screen_style {
	SCREEN_PLAIN,
	SCREEN_BOLD,
	SCREEN_DIM,
	SCREEN_TITLE,
	SCREEN_TITLE_SORTED,
	SCREEN_USED,
	SCREEN_CACHED,
	SCREEN_WARNING,
	SCREEN_SELECTED = 1 << 8, /* together with another one */
};

/* What bars and trends are made of, each of one column. */
struct screen_glyphs {
	const char *used, *cached;
	const char *levels[8];
};

/* 0; -EINVAL: what TERM names is not known, or can not place text. Then nothing was changed. */
int screen_begin(void);

/* The terminal is as it was before. Also when screen_begin failed, and twice. */
void screen_end(void);

/* For a while, as when the program is stopped; screen_renew comes back. */
void screen_leave(void);

/* Its size may have changed, or others have written on it: everything is drawn anew. */
void screen_renew(void);

void screen_size(int *width, int *height);
const struct screen_glyphs *screen_glyphs(void);

void screen_clear(void);
/* Escaped text, cut or filled with spaces to width columns; nothing outside the screen is touched. */
void screen_text(int y, int x, int width, int style, const char *text);
void screen_show(void);

/* The next key, if there is one: a character, or a key of keys.h; x and y with those of the mouse. */
bool screen_key(int *key, int *x, int *y);

#endif
