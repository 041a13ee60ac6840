/*
 * peer.h and body.h of qad: what several connections have to wait with is there once and charged once, each reader gets
 * all of it in order, and nothing is left of it when the last has it.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

#include "body.h"
#include "peer.h"

enum { PEERS = 3, HEAD_BYTES = 10, BODY_BYTES = 3 << 20 };

static struct fixture {
	uv_loop_t loop;
	struct log log;
	struct limits limits;
	struct peers peers;
	struct peer *peer[PEERS];
	int reader[PEERS];
	struct body *body;
	unsigned drained;
} fixture;

static void on_message(struct peer *peer, struct qp_message *message)
{
	(void)peer, (void)message;
	fail();
}

static void on_gone(struct peer *peer)
{
	for (size_t i = 0; i < PEERS; i++)
		if (fixture.peer[i] == peer)
			fixture.peer[i] = NULL;
}

static void on_drained(struct peer *peer)
{
	(void)peer;
	fixture.drained++;
}

static void on_room(void *owner)
{
	(void)owner;
}

static const struct peer_events events = {on_message, on_gone, on_drained, on_room};

static uint8_t byte_at(size_t offset)
{
	return (uint8_t)(offset * 31 + offset / 251);
}

static struct body *make_body(size_t bytes)
{
	struct body *body = body_create(BODY_BYTES);
	uint8_t *room = qp_buffer_reserve(&body->bytes, bytes);

	assert_non_null(room);
	for (size_t i = 0; i < bytes; i++)
		room[i] = byte_at(i);
	body->bytes.used_bytes = bytes;
	return body;
}

static int set_up(void **state)
{
	(void)state;
	fixture = (struct fixture){.drained = 0};
	uv_loop_init(&fixture.loop);
	log_init(&fixture.log, LOG_LEVEL_ERROR);
	limits_init(&fixture.limits);
	if (peers_init(&fixture.peers, &fixture.loop, &fixture.log, &fixture.limits, &events, NULL) != 0)
		return -1;
	for (size_t i = 0; i < PEERS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0 ||
		    peer_create(&fixture.peers, pair[0]) != 0)
			return -1;
		fixture.reader[i] = pair[1];
		fixture.peer[i] = LIST_OWNER(fixture.peers.all.previous, struct peer, link);
		peer_set_role(fixture.peer[i], PEER_CLIENT);
	}
	fixture.body = make_body(BODY_BYTES);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	body_release(fixture.body);
	peers_close(&fixture.peers, "the test ends");
	uv_run(&fixture.loop, UV_RUN_DEFAULT);
	assert_int_equal(account_count(&fixture.peers.accounts), 0);
	peers_finish(&fixture.peers);
	for (size_t i = 0; i < PEERS; i++)
		close(fixture.reader[i]);
	return uv_loop_close(&fixture.loop);
}

static void send_to(size_t number, struct body *body, size_t head_bytes)
{
	struct qp_buffer head;

	qp_buffer_init(&head, head_bytes);
	memset(qp_buffer_reserve(&head, head_bytes), 'h', head_bytes);
	head.used_bytes = head_bytes;
	peer_send_with(fixture.peer[number], &head, body);
	qp_buffer_finish(&head);
}

/* Reads all of a frame, while the loop writes it. */
static void expect(size_t number, size_t head_bytes, size_t body_bytes)
{
	uint8_t part[64 << 10];
	size_t offset = 0;

	while (offset < head_bytes + body_bytes) {
		ssize_t bytes = read(fixture.reader[number], part, sizeof(part));

		uv_run(&fixture.loop, UV_RUN_NOWAIT);
		for (ssize_t i = 0; i < bytes; i++, offset++)
			assert_int_equal(part[i], offset < head_bytes ? 'h' : byte_at(offset - head_bytes));
		assert_int_not_equal(bytes, 0);
	}
	assert_int_equal(read(fixture.reader[number], part, sizeof(part)), -1);
}

static size_t charged(void)
{
	return fixture.peer[0]->account->memory_bytes;
}

static void wait_with_the_same_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEERS; i++)
		send_to(i, fixture.body, HEAD_BYTES);
	assert_int_equal(fixture.body->references, 1 + PEERS);
	assert_int_equal(charged(), fixture.body->bytes.capacity_bytes);
	for (size_t i = 0; i < PEERS; i++)
		assert_true(peer_has_output(fixture.peer[i]));
}

static void get_all_of_it_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEERS; i++)
		send_to(i, fixture.body, HEAD_BYTES);
	for (size_t i = 0; i < PEERS; i++)
		expect(i, HEAD_BYTES, BODY_BYTES);
	assert_int_equal(fixture.drained, PEERS);
	assert_int_equal(fixture.body->references, 1);
	body_release(fixture.body);
	fixture.body = NULL;
	assert_int_equal(charged(), 0);
}

static void may_be_cut_within_the_head(void **state)
{
	size_t head_bytes = 512 << 10; /* more than a socket takes */

	(void)state;
	send_to(0, fixture.body, head_bytes);
	assert_true(charged() > fixture.body->bytes.capacity_bytes);
	assert_true(charged() < fixture.body->bytes.capacity_bytes + head_bytes);
	expect(0, head_bytes, BODY_BYTES);
	assert_int_equal(charged(), fixture.body->bytes.capacity_bytes); /* until the body goes */
}

static void come_behind_what_waits(void **state)
{
	struct body *first = make_body(1 << 20), *last = make_body(1);

	(void)state;
	send_to(0, first, HEAD_BYTES);
	send_to(0, last, HEAD_BYTES);
	body_release(first);
	body_release(last);
	uint8_t bytes[HEAD_BYTES + (1 << 20)];
	for (size_t offset = 0; offset < sizeof(bytes);) {
		ssize_t more = read(fixture.reader[0], bytes + offset, sizeof(bytes) - offset);

		uv_run(&fixture.loop, UV_RUN_NOWAIT);
		offset += more > 0 ? (size_t)more : 0;
	}
	assert_int_equal(bytes[0], 'h');
	assert_int_equal(bytes[sizeof(bytes) - 1], byte_at((1 << 20) - 1));
	expect(0, HEAD_BYTES, 1);
	assert_int_equal(charged(), 0);
}

/* Peers but the first belong to another user then. */
static struct account *give_to_another_user(void)
{
	struct account *other = NULL;

	for (size_t i = 1; i < PEERS; i++) {
		account_release(fixture.peer[i]->account);
		other = account_acquire(&fixture.peers.accounts, fixture.peer[i]->who.uid + 1);
		fixture.peer[i]->account = other;
		other->connections++;
	}
	fixture.peer[0]->account->connections = 1;
	return other;
}

static void of_another_user_are_charged_as_well(void **state)
{
	struct account *other = give_to_another_user();

	(void)state;
	send_to(0, fixture.body, HEAD_BYTES);
	send_to(1, fixture.body, HEAD_BYTES);
	assert_int_equal(charged(), fixture.body->bytes.capacity_bytes);
	assert_int_equal(other->memory_bytes, fixture.body->bytes.capacity_bytes);
	expect(0, HEAD_BYTES, BODY_BYTES);
	expect(1, HEAD_BYTES, BODY_BYTES);
	assert_int_equal(other->memory_bytes, 0);
}

static void outlive_who_was_charged_first(void **state)
{
	struct account *other = give_to_another_user();

	(void)state;
	send_to(0, fixture.body, HEAD_BYTES);
	send_to(1, fixture.body, HEAD_BYTES);
	peer_end(fixture.peer[0], "it goes");
	while (fixture.peer[0] != NULL)
		uv_run(&fixture.loop, UV_RUN_ONCE);
	assert_int_equal(account_count(&fixture.peers.accounts), 2);
	body_release(fixture.body);
	fixture.body = NULL;
	expect(1, HEAD_BYTES, BODY_BYTES);
	assert_int_equal(account_count(&fixture.peers.accounts), 1);
	assert_int_equal(other->memory_bytes, 0);
}

static void above_the_limit_of_a_queue_drop_the_peer(void **state)
{
	(void)state;
	fixture.limits.queue_client_bytes = BODY_BYTES / 2;
	send_to(0, fixture.body, HEAD_BYTES);
	assert_true(fixture.peer[0]->closing);
	assert_int_equal(charged(), 0);
}

static void above_the_limit_of_a_user_drop_the_peer(void **state)
{
	struct account *account = fixture.peer[0]->account;

	(void)state;
	account->limit_bytes = BODY_BYTES - 1;
	send_to(0, fixture.body, HEAD_BYTES);
	assert_true(fixture.peer[0]->closing);
	assert_int_equal(account->memory_bytes, 0);
	assert_int_equal(fixture.body->references, 1);
	assert_int_equal(fixture.peers.dropped, 1);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(wait_with_the_same_memory),
		CASE(get_all_of_it_in_order),
		CASE(may_be_cut_within_the_head),
		CASE(come_behind_what_waits),
		CASE(of_another_user_are_charged_as_well),
		CASE(outlive_who_was_charged_first),
		CASE(above_the_limit_of_a_queue_drop_the_peer),
		CASE(above_the_limit_of_a_user_drop_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
