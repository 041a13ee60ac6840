/*
 * http_options.h - what the command line says of HTTP. Needs no library: also a qad without HTTP understands it.
 */
#ifndef QAD_HTTP_OPTIONS_H
#define QAD_HTTP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { HTTP_HOSTS = 16, HTTP_HOST_BYTES = 256 };

struct http_options {
	bool is_on;
	bool allows_remote, allows_trim;
	struct sockaddr_storage address;
	socklen_t address_bytes;
	const char *text;              /* of the command line; NULL: not given */
	const char *hosts[HTTP_HOSTS]; /* more names by which clients may call us */
	size_t host_count;
	const char *token_file; /* NULL: none */
};

/* ADDRESS:PORT with a literal address, IPv6 in brackets, or localhost. 0, or -EINVAL. */
int http_options_set_address(struct http_options *options, const char *text);
/* 0; -EINVAL: no name; -ENOSPC: too many. */
int http_options_add_host(struct http_options *options, const char *name);

/* NULL, or a sentence that says what does not fit together. */
const char *http_options_fault(const struct http_options *options);

/* "ADDRESS:PORT" for people. */
enum { HTTP_ADDRESS_TEXT_BYTES = 64 };
void http_address_text(const struct sockaddr_storage *address, char text[HTTP_ADDRESS_TEXT_BYTES]);

#endif
