/*
 * Only literal addresses are taken: a name might be resolved to another address tomorrow, and that to a public one.
 */
#include "http_options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_text.h"

/* 0 to 65535; -1: not a port. */
static int read_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 5 || text[digits] != '\0' || atoi(text) > 65535)
		return -1;
	return atoi(text);
}

/* The part before the last colon, without brackets. False: there is none, or it does not fit. */
static bool split(const char *text, char *address, size_t size_bytes, bool *is_bracketed, int *port)
{
	const char *colon = strrchr(text, ':');
	size_t bytes;

	if (colon == NULL)
		return false;
	*port = read_port(colon + 1);
	*is_bracketed = text[0] == '[' && colon > text && colon[-1] == ']';
	bytes = (size_t)(colon - text) - (*is_bracketed ? 2 : 0);
	if (*port < 0 || bytes == 0 || bytes >= size_bytes)
		return false;
	memcpy(address, text + *is_bracketed, bytes);
	address[bytes] = '\0';
	return true;
}

int http_options_set_address(struct http_options *options, const char *text)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&options->address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&options->address;
	char address[INET6_ADDRSTRLEN];
	bool is_bracketed;
	int port;

	if (!split(text, address, sizeof(address), &is_bracketed, &port))
		return -EINVAL;
	memset(&options->address, 0, sizeof(options->address));
	if (is_bracketed) {
		if (inet_pton(AF_INET6, address, &six->sin6_addr) != 1)
			return -EINVAL;
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		options->address_bytes = sizeof(*six);
	} else {
		const char *literal = strcmp(address, "localhost") == 0 ? "127.0.0.1" : address;

		if (inet_pton(AF_INET, literal, &four->sin_addr) != 1)
			return -EINVAL;
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)port);
		options->address_bytes = sizeof(*four);
	}
	options->text = text;
	options->is_on = true;
	return 0;
}

int http_options_add_host(struct http_options *options, const char *name)
{
	char host[HTTP_HOST_BYTES];

	if (!http_host_name(name, host, sizeof(host)) || strlen(host) != strlen(name))
		return -EINVAL; /* a port says nothing here */
	if (options->host_count == HTTP_HOSTS)
		return -ENOSPC;
	options->hosts[options->host_count++] = name;
	return 0;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

const char *http_options_fault(const struct http_options *options)
{
	if (!options->is_on &&
	    (options->allows_remote || options->allows_trim || options->host_count > 0 || options->token_file != NULL))
		return "the options of HTTP need --http ADDRESS:PORT";
	if (!options->is_on)
		return NULL;
	if (!is_loopback(&options->address) && !options->allows_remote)
		return "everybody who can reach that address would see all targets: use 127.0.0.1 or [::1], or add "
		       "--http-allow-remote";
	if (options->allows_trim && options->token_file == NULL)
		return "--http-allow-trim needs --http-token-file FILE, which has the secret that a trim over HTTP "
		       "takes";
	if (!options->allows_trim && options->token_file != NULL)
		return "--http-token-file is of use only with --http-allow-trim";
	return NULL;
}

void http_address_text(const struct sockaddr_storage *address, char text[HTTP_ADDRESS_TEXT_BYTES])
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	bool is_six = address->ss_family == AF_INET6;
	char literal[INET6_ADDRSTRLEN];

	inet_ntop(address->ss_family, is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr, literal,
		  sizeof(literal));
	snprintf(text, HTTP_ADDRESS_TEXT_BYTES, is_six ? "[%s]:%u" : "%s:%u", literal,
		 (unsigned)ntohs(is_six ? six->sin6_port : four->sin_port));
}
