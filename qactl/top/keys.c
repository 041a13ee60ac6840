/*
 * Where top, htop, less and vi agree on a key it is that one.
 */
#include "top/keys.h"

const struct keys_row keys_rows[] = {
	{ACTION_UP, {KEYS_UP, 'k'}, "Up, Down, k, j", "select another row", NULL},
	{ACTION_DOWN, {KEYS_DOWN, 'j'}, NULL, NULL, NULL},
	{ACTION_PAGE_UP, {KEYS_PAGE_UP}, "PgUp, PgDn", "a screen up or down", NULL},
	{ACTION_PAGE_DOWN, {KEYS_PAGE_DOWN, ' '}, NULL, NULL, NULL},
	{ACTION_HOME, {KEYS_HOME, 'g'}, "Home, End, g, G", "the first row, the last", NULL},
	{ACTION_END, {KEYS_END, 'G'}, NULL, NULL, NULL},
	{ACTION_OPEN, {KEYS_ENTER}, "Enter", "open the process: its classes and pools", "Enter open"},
	{ACTION_CLASSES, {'1'}, "1", "the same, and back", NULL},
	{ACTION_BACK, {KEYS_ESCAPE, KEYS_BACKSPACE}, "Esc", "back; in the list: no filter any more", "Esc back"},
	{ACTION_QUIT, {'q', 'Q'}, "q", "end", "q quit"},
	{ACTION_HELP, {'h', '?', KEYS_HELP}, "h, F1, ?", "this help", "h help"},
	{ACTION_TRIM, {'t'}, "t", "trim the process, after a question", "t trim"},
	{ACTION_TRIM_CLASS, {'T'}, "T", "trim only the selected class or pool", NULL},
	{ACTION_FILTER, {'/'}, "/", "show only rows with a text: pid, user, command, label", "/ filter"},
	{ACTION_SORT_NEXT, {'s', '>', '.'}, "s, >, <", "sort by the next column, by the one before", "s sort"},
	{ACTION_SORT_BEFORE, {'<', ','}, NULL, NULL, NULL},
	{ACTION_TURN, {'r', 'I'}, "r", "the other way round", NULL},
	{ACTION_SORT_CACHED, {'c'}, "c", "sort by cached", NULL},
	{ACTION_SORT_USED, {'u'}, "u", "sort by used", NULL},
	{ACTION_PAUSE, {'p'}, "p", "pause, and go on", "p pause"},
	{ACTION_DELAY, {'d'}, "d", "how many seconds between two looks", "d delay"},
};
const size_t keys_count = sizeof(keys_rows) / sizeof(*keys_rows);

enum action keys_find(int key)
{
	for (size_t i = 0; i < keys_count; i++)
		for (size_t k = 0; k < sizeof(keys_rows[i].keys) / sizeof(keys_rows[i].keys[0]); k++)
			if (keys_rows[i].keys[k] == key && key != 0)
				return keys_rows[i].action;
	return ACTION_NONE;
}
