/*
 * layout.h - what goes where on a screen of some size. Pure.
 */
#ifndef QACTL_LAYOUT_H
#define QACTL_LAYOUT_H

#include "top/top.h"

/* The lines that the head of the list and of a process take where there is room. */
enum { LAYOUT_HEAD_OF_LIST = 3, LAYOUT_HEAD_OF_PROCESS = 8 };

/* A screen of any size, even of none; set: the columns of the page. */
void layout_make(struct layout *layout, enum top_page page, const struct column_set *set, int width, int height);

#endif
