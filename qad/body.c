/*
 * What is charged is the memory there is, not the bytes in use.
 */
#include "body.h"

#include <stdlib.h>

struct body *body_create(size_t limit_bytes)
{
	struct body *body = calloc(1, sizeof(*body));

	if (body == NULL)
		return NULL;
	body->references = 1;
	qp_buffer_init(&body->bytes, limit_bytes);
	return body;
}

void body_release(struct body *body)
{
	if (body == NULL || --body->references > 0)
		return;
	if (body->account != NULL)
		account_refund(body->account, body->charged_bytes);
	account_release(body->account);
	qp_buffer_finish(&body->bytes);
	free(body);
}

bool body_share(struct body *body, struct account *account, size_t *charged_bytes)
{
	size_t bytes = body->bytes.capacity_bytes;

	*charged_bytes = 0;
	if (account != body->account) {
		if (!account_charge(account, bytes))
			return false;
		if (body->account == NULL) {
			body->account = account_hold(account);
			body->charged_bytes = bytes;
		} else {
			*charged_bytes = bytes;
		}
	}
	body->references++;
	return true;
}
