/*
 * A peer says hello first, and by its role becomes a client or a target; peer->user is that struct from then on. What
 * is wrong with the protocol itself (no hello, a version that is not spoken) ends the connection, after an answer
 * where there is a request to answer. What is wrong with a request is an error to that request, no more.
 */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "methods.h"
#include "protocol.h"
#include "text.h"
#include "write.h"

static const char out_of_memory[] = "qad is out of memory";
static const char is_hidden[] = "qad can not read the process in /proc: it has ended, or /proc hides it (hidepid)";

struct hello {
	uint32_t id;
	char role[16];
	char name[QP_NAME_BYTES + 1];
	char version[QP_NAME_BYTES + 1];
	uint64_t pid;
};

static const struct method {
	const char *name;
	void (*run)(struct client *client, uint32_t id, struct qp_reader *params);
} methods[] = {
	{"ps", method_ps},           {"stats", method_stats},     {"trim", method_trim},     {"watch", method_watch},
	{"unwatch", method_unwatch}, {"history", method_history}, {"health", method_health}, {"map", method_map},
};

static void send_error(struct peer *peer, uint32_t id, const char *code, const char *message)
{
	uint8_t memory[512];
	struct qp_buffer frame;

	qp_buffer_init_fixed(&frame, memory, sizeof(memory));
	qp_write_error(&frame, id, code, message);
	peer_send(peer, &frame);
}

static void refuse_hello(struct peer *peer, uint32_t id, const char *code, const char *message)
{
	send_error(peer, id, code, message);
	peer_drop(peer, message);
}

/* The deadlines are told too, since they are settings. */
static void welcome(const struct service *service, struct peer *peer, uint32_t id)
{
	uint8_t memory[256];
	struct qp_buffer frame;

	qp_buffer_init_fixed(&frame, memory, sizeof(memory));
	qp_write_result(&frame, id);
	qp_write_map(&frame, 5);
	qp_write_key_u64(&frame, "protocol", QP_PROTOCOL);
	qp_write_key_string(&frame, "version", QA_VERSION_TEXT);
	qp_write_key_u64(&frame, "pid", (uint64_t)peer->who.pid);
	qp_write_key_u64(&frame, "stats_ms", service->limits->stats_ms);
	qp_write_key_u64(&frame, "trim_ms", service->limits->trim_ms);
	peer_send(peer, &frame);
}

static void begin_client(struct service *service, struct peer *peer, const struct hello *hello)
{
	struct client *client = calloc(1, sizeof(*client));

	if (client == NULL) {
		refuse_hello(peer, hello->id, "failed", out_of_memory);
		return;
	}
	client->service = service;
	client->peer = peer;
	list_init(&client->calls);
	list_init(&client->watches);
	service->clients++;
	access_rights_of(&service->access, peer->socket, &peer->who, &client->rights);
	peer->user = client;
	peer_set_role(peer, PEER_CLIENT);
	log_write(service->log, LOG_LEVEL_DEBUG, "client %d of uid %u", (int)peer->who.pid, (unsigned)peer->who.uid);
	welcome(service, peer, hello->id);
}

static void free_target(struct target *target)
{
	process_finish(&target->process);
	free(target);
}

/* Whether a target may have a second descriptor: only a quarter of what qad may open goes there. */
static bool has_many_descriptors(const struct peers *peers)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && peers->count < limit.rlim_cur / 4;
}

/* 0 or a negative errno, as of process_init. */
static int create_target(struct peer *peer, const struct hello *hello, struct target **created)
{
	struct target *target = calloc(1, sizeof(*target));
	int error;

	if (target == NULL)
		return -ENOMEM;
	error = process_init(&target->process, peer->who.pid, has_many_descriptors(peer->peers));
	if (error == 0 && !identity_is_alive(peer->socket, &peer->who))
		error = -ESRCH;
	if (error != 0) {
		free_target(target);
		return error;
	}
	process_sample(&target->process, &target->sample); /* shown until it is sampled again, if it never answers */
	target->peer = peer;
	target->inner_pid = hello->pid != 0 ? hello->pid : (uint64_t)peer->who.pid;
	text_copy(target->name, sizeof(target->name), hello->name, strlen(hello->name));
	text_copy(target->version, sizeof(target->version), hello->version, strlen(hello->version));
	question_init_target(target);
	*created = target;
	return 0;
}

/* Connections of an earlier process that had the same pid: a child of it may have kept them. */
static void end_those_of_another_process(const struct target *target)
{
	for (struct target *other = target->behind; other != NULL; other = other->behind)
		if (other->process.start_ticks != target->process.start_ticks)
			peer_end(other->peer, "its process ended");
}

static void begin_target(struct service *service, struct peer *peer, const struct hello *hello)
{
	struct target *target = NULL;
	int error;

	if (peer->who.pid == 0) {
		refuse_hello(peer, hello->id, "failed", "the process is outside qad's pid namespace");
		return;
	}
	error = create_target(peer, hello, &target);
	if (error == 0)
		error = registry_add(&service->registry, target);
	if (error != 0) {
		if (target != NULL)
			free_target(target);
		refuse_hello(peer, hello->id, "failed", error == -ENOMEM ? out_of_memory : is_hidden);
		return;
	}
	end_those_of_another_process(target);
	peer->user = target;
	watching_on_target(&service->watching, target);
	peer_set_role(peer, PEER_TARGET);
	log_write(service->log, LOG_LEVEL_INFO, "target %d of uid %u: %s%s%s%s", (int)peer->who.pid,
		  (unsigned)peer->who.uid, target->process.command, target->name[0] != '\0' ? " " : "", target->name,
		  target->behind != NULL ? ", in front of its connection before" : "");
	welcome(service, peer, hello->id);
}

/* False, and refused, when this one connection more would be above a limit. */
static bool has_room(struct peer *peer, uint32_t id)
{
	const struct peers *peers = peer->peers;
	const struct limits *limits = peers->limits;
	bool is_full = peers->connections >= limits->connections;
	char text[128];

	if (!is_full && peer->account->connections < limits->connections_of_user)
		return true;
	if (is_full)
		snprintf(text, sizeof(text), "qad has %llu connections already (limit connections)",
			 (unsigned long long)limits->connections);
	else
		snprintf(text, sizeof(text), "user %u has %llu connections already (limit connections_of_user)",
			 (unsigned)peer->who.uid, (unsigned long long)limits->connections_of_user);
	refuse_hello(peer, id, "busy", text);
	return false;
}

static void on_hello(struct service *service, struct peer *peer, const struct qp_message *message)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	struct hello hello = {.id = message->id};
	uint64_t protocol;
	char text[128];

	/* Stock MessagePack-RPC clients send something of their own first. The time for hello goes on. */
	if (message->kind != QP_REQUEST)
		return;
	if (strcmp(message->method, "hello") != 0) {
		send_error(peer, message->id, "bad_request",
			   message->method[0] == '\0' ? "the method is not a string" : "hello comes first");
		return;
	}
	protocol = qp_read_u64(&reader, "protocol");
	if (reader.bad == NULL && protocol != QP_PROTOCOL) {
		snprintf(text, sizeof(text), "qad speaks protocol %d, not %llu", QP_PROTOCOL,
			 (unsigned long long)protocol);
		refuse_hello(peer, message->id, "version", text);
		return;
	}
	qp_read_string(&reader, "role", hello.role, sizeof(hello.role));
	qp_read_string_or(&reader, "name", hello.name, sizeof(hello.name), "");
	qp_read_string_or(&reader, "version", hello.version, sizeof(hello.version), "");
	hello.pid = qp_read_u64_or(&reader, "pid", 0);
	if (reader.bad != NULL) {
		snprintf(text, sizeof(text), "hello: \"%s\" is missing or of the wrong type", reader.bad);
		refuse_hello(peer, message->id, "bad_request", text);
		return;
	}
	if (!has_room(peer, message->id))
		return;
	if (strcmp(hello.role, "client") == 0)
		begin_client(service, peer, &hello);
	else if (strcmp(hello.role, "target") == 0)
		begin_target(service, peer, &hello);
	else
		refuse_hello(peer, message->id, "bad_request", "hello: \"role\" is neither \"client\" nor \"target\"");
}

/*
 * False, and refused, when one more request that waits would be above a limit. One answer of a target may end all the
 * waiting at once, and then keeps the loop for as many as there are.
 */
static bool may_wait(struct client *client, uint32_t id)
{
	const struct limits *limits = client->service->limits;
	const char *fault = NULL;

	if (client->call_count >= limits->requests_of_client)
		fault = "too many of your requests wait for an answer (limit requests_of_client)";
	else if (client->peer->account->requests >= limits->requests_of_user)
		fault = "too many requests of your user wait for an answer (limit requests_of_user)";
	if (fault != NULL)
		service_send_error(client, id, "busy", fault);
	return fault == NULL;
}

static void on_request(struct client *client, const struct qp_message *message)
{
	struct qp_reader params = qp_reader_of(&message->body);

	if (message->method[0] == '\0') {
		service_send_error(client, message->id, "bad_request", "the method is not a string");
		return;
	}
	if (!may_wait(client, message->id))
		return;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(methods[i].name, message->method) == 0) {
			methods[i].run(client, message->id, &params);
			return;
		}
	}
	if (strcmp(message->method, "hello") == 0)
		service_send_error(client, message->id, "bad_request", "hello was said already");
	else
		service_send_error(client, message->id, "unknown_method", "qad has no such method");
}

void session_on_message(struct service *service, struct peer *peer, struct qp_message *message)
{
	switch (peer->role) {
	case PEER_NEW:
		on_hello(service, peer, message);
		break;
	case PEER_CLIENT:
		/* qad asks clients nothing: a response or notification of theirs means nothing. */
		if (message->kind == QP_REQUEST)
			on_request(peer->user, message);
		break;
	case PEER_TARGET:
		if (message->kind == QP_RESPONSE)
			question_on_response(&service->questions, peer->user, message);
		else if (message->kind == QP_REQUEST)
			send_error(peer, message->id, "unknown_method", "a target answers; only a client may ask");
		break;
	}
}

/* When it was in front of another connection of its process, that one is the target now. */
static void remove_target(struct service *service, struct target *target)
{
	struct process_sample sample;
	struct target *next;

	registry_remove(&service->registry, target);
	next = registry_find(&service->registry, target->peer->who.pid);
	if (next != NULL && next == target->behind && process_sample(&next->process, &sample) == -ESRCH)
		peer_end(next->peer, "its process ended");
}

void session_on_gone(struct service *service, struct peer *peer)
{
	if (peer->role == PEER_CLIENT) {
		call_cancel_all(peer->user);
		watching_remove_all(&service->watching, peer->user);
		service->clients--;
		free(peer->user);
	} else if (peer->role == PEER_TARGET) {
		remove_target(service, peer->user);
		question_on_gone(&service->questions, peer->user);
		watching_on_gone(&service->watching, peer->user);
		free_target(peer->user);
	}
	peer->user = NULL;
}

void session_on_drained(struct service *service, struct peer *peer)
{
	watching_on_drained(&service->watching, peer->user);
}
