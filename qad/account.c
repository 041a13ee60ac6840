/*
 * A list is enough: a host has few uids that connect, and it is searched once per connection.
 */
#include "account.h"

#include <stdlib.h>

void accounts_init(struct accounts *accounts, size_t limit_bytes)
{
	accounts->limit_bytes = limit_bytes;
	list_init(&accounts->all);
}

struct account *account_acquire(struct accounts *accounts, uid_t uid)
{
	struct account *account;

	for (struct list *link = accounts->all.next; link != &accounts->all; link = link->next) {
		account = LIST_OWNER(link, struct account, link);
		if (account->uid == uid)
			return account_hold(account);
	}
	account = calloc(1, sizeof(*account));
	if (account == NULL)
		return NULL;
	account->limit_bytes = accounts->limit_bytes;
	account->uid = uid;
	account->references = 1;
	list_init(&account->mute);
	list_append(&accounts->all, &account->link);
	return account;
}

struct account *account_hold(struct account *account)
{
	account->references++;
	return account;
}

void account_release(struct account *account)
{
	if (account == NULL || --account->references > 0)
		return;
	list_remove(&account->link);
	free(account);
}

size_t account_count(const struct accounts *accounts)
{
	size_t count = 0;

	for (const struct list *link = accounts->all.next; link != &accounts->all; link = link->next)
		count++;
	return count;
}

bool account_charge(struct account *account, size_t bytes)
{
	if (bytes > account->limit_bytes - account->memory_bytes)
		return false;
	account->memory_bytes += bytes;
	return true;
}

void account_refund(struct account *account, size_t bytes)
{
	account->memory_bytes -= bytes;
}
