/*
 * pools - named pools: two kinds of objects of one size, told apart in the statistics.
 *
 * Sessions and requests both have 48 bytes. As blocks of a size class they would be one row; as pools each has a row
 * with its name, here and in `qactl stats`, and pages of its own.
 */
#include <qa.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 1000, REQUESTS_EACH = 20 };

struct request {
	struct request *next;
	uint64_t received_ns;
	char path[32];
};

struct session {
	struct request *requests;
	uint64_t user_id, started_ns;
	char host[24];
};

static struct qa_pool *sessions, *requests;

static struct qa_pool *pool_create_or_exit(const char *name, size_t size, size_t align)
{
	struct qa_pool *pool = qa_pool_create(name, size, align);
	if (!pool) {
		perror(name);
		exit(1);
	}
	return pool;
}

static void *pool_alloc_or_exit(struct qa_pool *pool)
{
	void *block = qa_pool_alloc(pool);
	if (!block) {
		perror("pools");
		exit(1);
	}
	return block;
}

static struct session *session_create(unsigned number)
{
	struct session *session = (struct session *)pool_alloc_or_exit(sessions);
	*session = (struct session){NULL, number, 0, "localhost"};
	for (unsigned i = 0; i < REQUESTS_EACH; i++) {
		struct request *request = (struct request *)pool_alloc_or_exit(requests);
		*request = (struct request){session->requests, i, "/"};
		session->requests = request;
	}
	return session;
}

static void session_destroy(struct session *session)
{
	while (session->requests) {
		struct request *next = session->requests->next;
		qa_pool_free(requests, session->requests);
		session->requests = next;
	}
	qa_pool_free(sessions, session);
}

static void print_pools(const char *when)
{
	static struct qa_class_stats rows[QA_STATS_ROWS_MAX];
	struct qa_stats total;
	size_t count = qa_stats(&total, rows, QA_STATS_ROWS_MAX);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].name[0])
			printf("%-8s %-9s %6" PRIu64 " blocks of %" PRIu64 " bytes, %" PRIu64 " KiB held\n", when,
			       rows[i].name, rows[i].used_blocks, rows[i].block_size, rows[i].held_bytes / 1024);
	}
}

int main(void)
{
	static struct session *all[SESSIONS];
	sessions = pool_create_or_exit("sessions", sizeof(struct session), _Alignof(struct session));
	requests = pool_create_or_exit("requests", sizeof(struct request), _Alignof(struct request));

	for (unsigned i = 0; i < SESSIONS; i++)
		all[i] = session_create(i);
	print_pools("busy");
	for (unsigned i = 0; i < SESSIONS; i++)
		session_destroy(all[i]);
	print_pools("idle");
	qa_trim(NULL, NULL);
	print_pools("trimmed");

	return qa_pool_destroy(requests) == 0 && qa_pool_destroy(sessions) == 0 ? 0 : 1;
}
