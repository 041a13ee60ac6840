/*
 * What qad itself decodes of a request: a host has small letters and no port, and is its own host again; a path matches
 * one pattern of two; a number is the one that libc reads; a label has no control characters, and can be read back.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http_exposition.h"
#include "http_options.h"
#include "http_text.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(int holds)
{
	if (!holds)
		abort();
}

static void check_host(const char *text)
{
	char name[64], again[64];

	if (!http_host_name(text, name, sizeof(name)))
		return;
	check(strlen(name) > 0 && strncasecmp(name, text, strlen(name)) == 0);
	check(http_host_name(name, again, sizeof(again)) && strcmp(name, again) == 0);
	check(strpbrk(name, "/@ \t\r\n,\"<>") == NULL);
	check(!http_host_is_loopback(name) || http_host_is_literal(name) || strcmp(name, "localhost") == 0);
}

static void check_path(const char *text)
{
	char rest[16];
	pid_t pid;

	if (http_path_is("/api/v1/targets/PID/trim", text, &pid, rest, sizeof(rest))) {
		char path[64];

		snprintf(path, sizeof(path), "/api/v1/targets/%d/trim", (int)pid);
		check(pid > 0 && strcmp(path, text) == 0 && rest[0] == '\0');
	}
	if (http_path_is("/page/*", text, &pid, rest, sizeof(rest)))
		check(pid == 0 && strlen(rest) > 0 && strchr(rest, '/') == NULL && strcmp(text + 6, rest) == 0);
}

static void check_number(const char *text)
{
	uint64_t value;
	bool is_number = http_read_u64(text, &value);

	errno = 0;
	if (is_number)
		check(value == strtoull(text, NULL, 10) && errno == 0);
	else if (text[0] != '\0' && text[strspn(text, "0123456789")] == '\0')
		check(strtoull(text, NULL, 10) == UINT64_MAX && errno == ERANGE);
}

static void check_label(const char *text)
{
	struct qp_buffer labels;
	char value[512];

	text_copy(value, sizeof(value), text, strlen(text));
	qp_buffer_init(&labels, 1u << 16);
	metric_append_label(&labels, true, "n", value);
	qp_buffer_append(&labels, "", 1);
	check(!labels.failed && memcmp(labels.data, "n=\"", 3) == 0);

	const char *at = (const char *)labels.data + 3;
	for (; *at != '"'; at++) {
		check((unsigned char)*at >= 0x20 && *at != 0x7f);
		if (*at == '\\')
			check(*++at == '\\' || *at == '"' || *at == 'n');
	}
	check(at[1] == '\0');
	qp_buffer_finish(&labels);
}

static void check_options(const char *text)
{
	struct http_options options = {.is_on = false};
	char written[HTTP_ADDRESS_TEXT_BYTES];

	if (http_options_set_address(&options, text) != 0)
		return;
	http_address_text(&options.address, written);
	check(http_options_set_address(&options, written) == 0);
	http_options_fault(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);

	check(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	check_host(text);
	check_path(text);
	check_number(text);
	check_label(text);
	check_options(text);
	http_prefers_openmetrics(text);
	if (http_bearer_token(text) != NULL)
		check(http_is_secret(http_bearer_token(text), http_bearer_token(text)) ==
		      (*http_bearer_token(text) != '\0'));
	check(http_is_same_origin(text, text) == false);
	check(!http_is_secret(text, "") && http_is_secret(text, text) == (text[0] != '\0'));
	free(text);
	return 0;
}
