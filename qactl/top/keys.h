/*
 * keys.h - what the keys of top do, as data: the help and the bottom line are made from the same table.
 */
#ifndef QACTL_KEYS_H
#define QACTL_KEYS_H

#include <stddef.h>

/* Keys that are no character; those that are have their code. */
enum {
	KEYS_UP = 0x110000,
	KEYS_DOWN,
	KEYS_PAGE_UP,
	KEYS_PAGE_DOWN,
	KEYS_HOME,
	KEYS_END,
	KEYS_ENTER,
	KEYS_ESCAPE,
	KEYS_BACKSPACE,
	KEYS_HELP,
	KEYS_CLICK, /* the mouse; where it was is beside the key */
	KEYS_WHEEL_UP,
	KEYS_WHEEL_DOWN,
};

enum action {
	ACTION_NONE,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_HOME,
	ACTION_END,
	ACTION_OPEN,
	ACTION_CLASSES,
	ACTION_BACK,
	ACTION_FILTER,
	ACTION_SORT_NEXT,
	ACTION_SORT_BEFORE,
	ACTION_TURN,
	ACTION_SORT_CACHED,
	ACTION_SORT_USED,
	ACTION_TRIM,
	ACTION_TRIM_CLASS,
	ACTION_PAUSE,
	ACTION_DELAY,
	ACTION_HELP,
	ACTION_QUIT,
};

struct keys_row {
	enum action action;
	int keys[4];      /* 0: no more */
	const char *name; /* in the help; NULL: not there by itself */
	const char *help;
	const char *brief; /* in the bottom line; NULL: not there */
};

extern const struct keys_row keys_rows[];
extern const size_t keys_count;

enum action keys_find(int key);

#endif
