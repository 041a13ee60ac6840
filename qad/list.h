/*
 * list.h - a doubly linked ring whose links lie inside the elements: no allocation, removal without a search.
 *
 * A head and each element are a struct list. An element that is on no list points at itself, so that list_remove may
 * be called on it again.
 */
#ifndef QAD_LIST_H
#define QAD_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *previous;
	struct list *next;
};

/* The struct of which link is a member. */
#define LIST_OWNER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void list_init(struct list *list)
{
	list->previous = list;
	list->next = list;
}

static inline bool list_is_empty(const struct list *list)
{
	return list->next == list;
}

/* Puts an element that is on no list at the end. */
static inline void list_append(struct list *head, struct list *element)
{
	element->previous = head->previous;
	element->next = head;
	head->previous->next = element;
	head->previous = element;
}

static inline void list_remove(struct list *element)
{
	element->previous->next = element->next;
	element->next->previous = element->previous;
	list_init(element);
}

/* Takes the first element off and returns it, or NULL. Safe to loop on while elements come and go. */
static inline struct list *list_take_first(struct list *head)
{
	struct list *first = head->next;

	if (first == head)
		return NULL;
	list_remove(first);
	return first;
}

/* Moves all elements of from to the end of to. */
static inline void list_append_all(struct list *to, struct list *from)
{
	if (list_is_empty(from))
		return;
	from->next->previous = to->previous;
	to->previous->next = from->next;
	from->previous->next = to;
	to->previous = from->previous;
	list_init(from);
}

#endif
